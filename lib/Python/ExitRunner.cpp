//===- ExitRunner.cpp - Kernels and exits on CPython's objects ------------===//
//
// prepare (tensors, sources; may fail) -> kernels -> check (status, FP flags)
// -> fill (all other recipes) -> commit (effects in program order, then the
// frame's slots). Nothing of the program changes before commit. Old values of
// slots are dropped last, when the frame is consistent: their finalizers may
// look.
//
//===----------------------------------------------------------------------===//

#include "FrameModel.h"

#include "wok/Runtime/Parallel.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstring>

namespace wok::python {

using namespace capture;
using runtime::RunBuffers;

namespace {

/// Kernels that take longer than about 20 us let other threads run.
bool isLong(int64_t bytes, uint32_t operations) {
  // About 10 bytes a ns, and a quarter ns an element and operation.
  return bytes / 10 + bytes / 4 * operations / 4 > 20'000;
}

/// NumPy's error classes in its error mask, three bits each, against C's flags.
bool numpyWouldSpeak(int flags, int64_t mask) {
  struct {
    int flag, shift;
  } constexpr classes[] = {
      {FE_DIVBYZERO, 0}, {FE_OVERFLOW, 3}, {FE_UNDERFLOW, 6}, {FE_INVALID, 9}};
  for (auto [flag, shift] : classes)
    if ((flags & flag) && (mask < 0 || (mask >> shift & 7) != 0))
      return true;
  return false;
}

constexpr int numpyFlags =
    FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;

/// A Python number of the element.
PyObject *readElement(DType dtype, const void *element) {
  auto as = [&]<class T>(T) {
    T value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  };
  switch (dtype) {
  case DType::I1:
    return PyBool_FromLong(as(uint8_t{}) != 0);
  case DType::I8:
    return PyLong_FromLong(as(int8_t{}));
  case DType::U8:
    return PyLong_FromLong(as(uint8_t{}));
  case DType::I16:
    return PyLong_FromLong(as(int16_t{}));
  case DType::I32:
    return PyLong_FromLong(as(int32_t{}));
  case DType::I64:
    return PyLong_FromLongLong(as(int64_t{}));
  case DType::F32:
    return PyFloat_FromDouble(as(float{}));
  case DType::F64:
    return PyFloat_FromDouble(as(double{}));
  case DType::BF16: {
    uint32_t bits = static_cast<uint32_t>(as(uint16_t{})) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return PyFloat_FromDouble(value);
  }
  case DType::F16: {
    unsigned char bytes[2];
    std::memcpy(bytes, element, 2);
    double value = PyFloat_Unpack2(reinterpret_cast<const char *>(bytes), 1);
    return value == -1.0 && PyErr_Occurred() ? nullptr
                                             : PyFloat_FromDouble(value);
  }
  }
  Py_UNREACHABLE();
}

} // namespace

FrameModel::Outputs::~Outputs() {
  for (PyObject *object : made)
    Py_XDECREF(object);
  for (PyObject *object : spare)
    Py_DECREF(object);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool FrameModel::bindInputs(const Exit &plan, Register *registers,
                            const RunBuffers &buffers) {
  code = buffers.code;
  inputRegisters = registers;
  bytes = 0;
  numbers.resize_for_overwrite(plan.inputs.size());
  int64_t *dims = buffers.dims;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan &input = plan.inputs[i];
    if (input.kind == SubgraphInput::Kind::Tensor) {
      const TensorInfo &info = state.tensors[input.described];
      buffers.data[i] = info.data;
      int64_t elements = info.itemBytes;
      for (int32_t d = 0; d < info.rank; ++d)
        elements *= info.extents[d];
      bytes += elements;
      if (dims) {
        dims = std::copy(info.extents, info.extents + info.rank, dims);
        for (int32_t d = 0; d < info.rank; ++d)
          *dims++ = info.stride(d);
      }
      continue;
    }
    PyObject *object = registers[input.reg];
    buffers.data[i] = &numbers[i];
    if (input.kind == SubgraphInput::Kind::Int) {
      long long value = PyLong_AsLongLong(object);
      if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
      std::memcpy(&numbers[i], &value, sizeof(value));
    } else {
      double value = PyFloat_AS_DOUBLE(object);
      std::memcpy(&numbers[i], &value, sizeof(value));
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Prepare
//===----------------------------------------------------------------------===//

bool FrameModel::allocateOutput(const Exit &plan, uint32_t number, DType dtype,
                                const int64_t *extents, size_t rank,
                                Outputs &outputs) {
  const OutputPlan &output = plan.outputs[number];
  if (output.scalar && output.recipe == noRecipe) {
    outputs.memory[number] = &outputs.elements[number];
    return true;
  }
  // An output that no recipe names still needs memory; either library's will
  // do.
  Library library = plan.hasArrays ? Library::NumPy : Library::Torch;
  llvm::SmallVector<int64_t, 8> ordered(extents, extents + rank);
  std::span<const uint8_t> order;
  if (output.recipe != noRecipe) {
    const Recipe &recipe = plan.exit.recipes[output.recipe];
    library = recipe.library;
    order = recipe.strideOrder;
    for (size_t i = 0; i < order.size(); ++i)
      ordered[order[i]] = extents[i];
  }
  PyObject *tensor = makeTensor(library, dtype, {ordered.data(), rank}, order,
                                &outputs.memory[number]);
  if (!tensor)
    return false;
  if (output.recipe != noRecipe)
    outputs.made[output.recipe] = tensor;
  else
    outputs.spare.push_back(tensor);
  return true;
}

bool FrameModel::prepare(const Exit &plan, Register *registers,
                         const RunBuffers &buffers, Outputs &outputs) {
  const std::vector<Recipe> &recipes = plan.exit.recipes;
  outputs.made.resize(recipes.size(), nullptr);
  for (RecipeId id = 0; id < recipes.size(); ++id) {
    if (recipes[id].kind != RecipeKind::Source)
      continue;
    PyObject *object = registers[plan.registers[id]];
    if (!object)
      return false;
    outputs.made[id] = Py_NewRef(object);
  }
  for (RecipeId target : plan.written) {
    TensorInfo info;
    if (outputs.made[target] &&
        (!inspect(outputs.made[target], info) || !info.writable))
      return false; // Eager raises.
  }
  if (!buffers.code)
    return true;

  size_t count = plan.outputs.size();
  outputs.memory.resize(count, nullptr);
  outputs.elements.resize(count, 0);
  const int64_t *extents = buffers.outputExtents;
  for (uint32_t number = 0; number < count; ++number) {
    const runtime::TensorSpec &spec = buffers.code->outputs[number];
    size_t rank = spec.extents.size();
    const int64_t *shape = extents ? extents : spec.extents.data();
    if (extents)
      extents += rank;
    if (!allocateOutput(plan, number, spec.dtype, shape, rank, outputs)) {
      PyErr_Clear();
      return false;
    }
    buffers.output(number) = outputs.memory[number];
    int64_t size = static_cast<int64_t>(byteWidth(spec.dtype));
    for (size_t d = 0; d < rank; ++d)
      size *= shape[d];
    bytes += size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

int32_t FrameModel::runKernels(const Exit &plan, int32_t (*kernels)(void *),
                               void *ctx) {
  // On arrays, the flags that NumPy would look at are those of these kernels
  // alone.
  std::fexcept_t before;
  if (plan.hasArrays) {
    std::fegetexceptflag(&before, numpyFlags);
    std::feclearexcept(numpyFlags);
  }
  auto start = timeKernels ? std::chrono::steady_clock::now()
                           : std::chrono::steady_clock::time_point();
  int32_t status;
  // NumPy's own loops never woke libgomp's threads.
  runtime::OwnPoolScope ownPool(plan.hasArrays);
  if (isLong(bytes, plan.operations)) {
    // Another thread may drop or replace what the inputs were read from.
    llvm::SmallVector<Ref<>, 8> inputs;
    for (const InputPlan &input : plan.inputs)
      inputs.push_back(Ref<>::share(inputRegisters[input.reg]));
    Py_BEGIN_ALLOW_THREADS
    status = kernels(ctx);
    Py_END_ALLOW_THREADS
  } else {
    status = kernels(ctx);
  }
  if (timeKernels)
    kernelNanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  if (plan.hasArrays) {
    int flags = std::fetestexcept(numpyFlags);
    std::fesetexceptflag(&before, numpyFlags);
    if (flags && status == 0 &&
        numpyWouldSpeak(flags, readAmbient(Ambient::Errstate)))
      status = floatingPointStatus;
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Fill
//===----------------------------------------------------------------------===//

/// The object of a recipe, made at its first use; borrowed from `outputs`. Null
/// with an exception, or without one for a Null recipe.
PyObject *FrameModel::make(const Exit &plan, RecipeId id, Register *registers,
                           Outputs &outputs) {
  if (outputs.made[id])
    return outputs.made[id];
  PyObject *object = makeNew(plan, id, registers, outputs);
  if (!object)
    return nullptr;
  outputs.made[id] = object;
  return fillItems(plan, id, registers, outputs) ? object : nullptr;
}

PyObject *FrameModel::makeNew(const Exit &plan, RecipeId id,
                              Register *registers, Outputs &outputs) {
  const Recipe &recipe = plan.exit.recipes[id];
  auto operand = [&](size_t i) -> PyObject * {
    return i < recipe.operands.size()
               ? make(plan, recipe.operands[i], registers, outputs)
               : nullptr;
  };
  size_t count = recipe.operands.size();
  switch (recipe.kind) {
  case RecipeKind::Null:
    return nullptr;
  case RecipeKind::Constant:
    return Py_NewRef(recipe.object);
  case RecipeKind::Source:
  case RecipeKind::Tensor:
    break; // Made in prepare.
  case RecipeKind::View: {
    PyObject *base = operand(0);
    if (!base)
      return nullptr;
    llvm::SmallVector<int64_t, 8> extents, strides;
    for (importer::ExtentId extentId : recipe.geometry.extents)
      extents.push_back(extent(plan, extentId));
    for (importer::ExtentId stride : recipe.geometry.strides)
      strides.push_back(extent(plan, stride));
    return makeView(recipe.library, base, {extents.data(), extents.size()},
                    {strides.data(), strides.size()},
                    extent(plan, recipe.geometry.offset));
  }
  case RecipeKind::NumpyScalar:
    return makeNumpyScalar(code->outputs[recipe.number].dtype,
                           outputs.memory[recipe.number]);
  case RecipeKind::PythonScalar:
    return readElement(code->outputs[recipe.number].dtype,
                       outputs.memory[recipe.number]);
  case RecipeKind::ExtentInt:
    return PyLong_FromLongLong(extent(plan, recipe.number));
  case RecipeKind::Tuple: {
    if (!recipe.object)
      return PyTuple_New(
          static_cast<Py_ssize_t>(count)); // Filled when it is known: cycles.
    // A subclass of tuple (torch.Size, a struct sequence) is made of a tuple.
    Ref<> items = Ref<>::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; items && i < count; ++i) {
      PyObject *item = operand(i);
      if (!item)
        return nullptr;
      PyTuple_SET_ITEM(items.get(), i, Py_NewRef(item));
    }
    return items ? PyObject_CallOneArg(recipe.object, items) : nullptr;
  }
  case RecipeKind::List:
    return PyList_New(static_cast<Py_ssize_t>(count));
  case RecipeKind::Dict:
    return PyDict_New();
  case RecipeKind::Set:
    return PySet_New(nullptr);
  case RecipeKind::Slice: {
    PyObject *start = operand(0), *stop = operand(1), *step = operand(2);
    return start && stop && step ? PySlice_New(start, stop, step) : nullptr;
  }
  case RecipeKind::Range: {
    PyObject *start = operand(0), *stop = operand(1), *step = operand(2);
    return start && stop && step
               ? PyObject_CallFunctionObjArgs(
                     reinterpret_cast<PyObject *>(&PyRange_Type), start, stop,
                     step, nullptr)
               : nullptr;
  }
  case RecipeKind::Iterator: {
    PyObject *iterable = operand(0);
    Ref<> iterator =
        Ref<>::steal(iterable ? PyObject_GetIter(iterable) : nullptr);
    for (uint32_t i = 0; iterator && i < recipe.number; ++i)
      if (!Ref<>::steal(PyIter_Next(iterator)) && PyErr_Occurred())
        return nullptr;
    return iterator.release();
  }
  case RecipeKind::BoundMethod: {
    PyObject *function = operand(0), *self = operand(1);
    return function && self ? PyMethod_New(function, self) : nullptr;
  }
  case RecipeKind::Cell:
    return PyCell_New(nullptr);
  case RecipeKind::Function:
    return makeFunction(plan, recipe, registers, outputs);
  case RecipeKind::Instance:
    return makeInstance(plan, id, registers, outputs);
  }
  PyErr_SetString(PyExc_SystemError, "wok: a recipe that was not prepared");
  return nullptr;
}

/// operands: code, globals, defaults, kwdefaults, closure, annotations,
/// qualified name.
PyObject *FrameModel::makeFunction(const Exit &plan, const Recipe &recipe,
                                   Register *registers, Outputs &outputs) {
  PyObject *parts[7] = {};
  for (size_t i = 0; i < recipe.operands.size() && i < 7; ++i) {
    parts[i] = make(plan, recipe.operands[i], registers, outputs);
    if (!parts[i] && PyErr_Occurred())
      return nullptr;
  }
  if (!parts[0] || !parts[1]) {
    PyErr_SetString(PyExc_SystemError, "wok: a function without code");
    return nullptr;
  }
  Ref<> function =
      Ref<>::steal(PyFunction_NewWithQualName(parts[0], parts[1], parts[6]));
  if (!function ||
      (parts[2] && PyFunction_SetDefaults(function, parts[2]) < 0) ||
      (parts[3] && PyFunction_SetKwDefaults(function, parts[3]) < 0) ||
      (parts[4] && PyFunction_SetClosure(function, parts[4]) < 0))
    return nullptr;
  // A tuple of names and types is what MAKE_FUNCTION stores too.
  if (parts[5])
    Py_XSETREF(
        reinterpret_cast<PyFunctionObject *>(function.get())->func_annotations,
        Py_NewRef(parts[5]));
  return function.release();
}

/// object.__new__ of operand 0; attributes are filled in afterwards.
PyObject *FrameModel::makeInstance(const Exit &plan, RecipeId id,
                                   Register *registers, Outputs &outputs) {
  const Recipe &recipe = plan.exit.recipes[id];
  PyObject *type = make(plan, recipe.operands[0], registers, outputs);
  if (!type)
    return nullptr;
  Ref<> nothing = Ref<>::steal(PyTuple_New(0));
  return nothing ? PyBaseObject_Type.tp_new(
                       reinterpret_cast<PyTypeObject *>(type), nothing, nullptr)
                 : nullptr;
}

/// Puts the operands into a container that stands already: containers may hold
/// each other.
bool FrameModel::fillItems(const Exit &plan, RecipeId id, Register *registers,
                           Outputs &outputs) {
  const Recipe &recipe = plan.exit.recipes[id];
  PyObject *object = outputs.made[id];
  auto operand = [&](size_t i) {
    return make(plan, recipe.operands[i], registers, outputs);
  };
  size_t count = recipe.operands.size();
  switch (recipe.kind) {
  case RecipeKind::Tuple:
  case RecipeKind::List:
    for (size_t i = 0; i < count && !recipe.object; ++i) {
      PyObject *item = operand(i);
      if (!item)
        return false;
      if (recipe.kind == RecipeKind::Tuple)
        PyTuple_SET_ITEM(object, i, Py_NewRef(item));
      else
        PyList_SET_ITEM(object, i, Py_NewRef(item));
    }
    return true;
  case RecipeKind::Dict:
    for (size_t i = 0; i + 1 < count; i += 2) {
      PyObject *key = operand(i), *value = key ? operand(i + 1) : nullptr;
      if (!value || PyDict_SetItem(object, key, value) < 0)
        return false;
    }
    return true;
  case RecipeKind::Set:
    for (size_t i = 0; i < count; ++i) {
      PyObject *item = operand(i);
      if (!item || PySet_Add(object, item) < 0)
        return false;
    }
    return true;
  case RecipeKind::Cell: {
    PyObject *contents = count ? operand(0) : nullptr;
    if (!contents && PyErr_Occurred())
      return false;
    return !contents || PyCell_Set(object, contents) == 0;
  }
  case RecipeKind::Instance:
    for (size_t i = 1; i + 1 < count; i += 2) {
      PyObject *name = operand(i), *value = name ? operand(i + 1) : nullptr;
      if (!value || PyObject_GenericSetAttr(object, name, value) < 0)
        return false;
    }
    return true;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

static bool setItem(PyObject *container, PyObject *key, PyObject *value) {
  if (PyDict_CheckExact(container))
    return PyDict_SetItem(container, key, value) == 0;
  if (PyList_CheckExact(container)) {
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
      return false;
    if (index < 0)
      index += PyList_GET_SIZE(container);
    return PyList_SetItem(container, index, Py_NewRef(value)) == 0;
  }
  PyErr_SetString(PyExc_SystemError,
                  "wok: a store into a container that changed its type");
  return false;
}

bool FrameModel::apply(const Effect &effect, Outputs &outputs) {
  auto object = [&](RecipeId id) {
    return id == noRecipe ? nullptr : outputs.made[id];
  };
  PyObject *target = object(effect.target), *key = object(effect.key);
  PyObject *value = object(effect.value);
  switch (effect.kind) {
  case EffectKind::TensorWrite: {
    Library library;
    return isTensorType(Py_TYPE(target), library) &&
           copyInto(library, target, value);
  }
  case EffectKind::SetAttribute:
    return PyObject_GenericSetAttr(target, key, value) == 0;
  case EffectKind::SetItem:
    return setItem(target, key, value);
  case EffectKind::DeleteItem:
    return PyDict_DelItem(target, key) == 0;
  case EffectKind::ListAppend:
    return PyList_Append(target, value) == 0;
  case EffectKind::SetCell:
    return PyCell_Set(target, value) == 0;
  case EffectKind::SetGlobal:
    return PyDict_SetItem(target, key, value) == 0;
  case EffectKind::SetGradMode:
    return setGradMode(value == Py_True);
  }
  return false;
}

bool FrameModel::commit(const Exit &plan, Register *registers,
                        Outputs &outputs) {
  const capture::Exit &exit = plan.exit;
  // Fill: only memory can be missing, and nothing has changed yet.
  for (RecipeId id = 0; id < exit.recipes.size(); ++id)
    if (!make(plan, id, registers, outputs) &&
        exit.recipes[id].kind != RecipeKind::Null)
      return false;

  for (const Effect &effect : exit.effects)
    if (!apply(effect, outputs)) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError,
                        "wok: an effect could not be replayed");
      return false;
    }

  auto reference = [&](RecipeId id) { return Py_XNewRef(outputs.made[id]); };
  if (!frame) {
    result = reference(exit.stack.back());
    return true;
  }
  llvm::SmallVector<PyObject *, 16> dropped;
  for (const SlotWrite &write : exit.locals) {
    PyObject *&slot = frame->localsplus[write.slot];
    dropped.push_back(slot);
    slot = reference(write.recipe);
  }
  for (int32_t i = 0; i < frame->stackDepth; ++i)
    dropped.push_back(frame->stack[i]);
  for (size_t i = 0; i < exit.stack.size(); ++i)
    frame->stack[i] = reference(exit.stack[i]);
  frame->stackDepth = static_cast<int32_t>(exit.stack.size());
  frame->offset = exit.resumeOffset;
  for (PyObject *object : dropped)
    Py_XDECREF(object);
  return true;
}

} // namespace wok::python
