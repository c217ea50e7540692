//===- Callables.cpp - The table of everything that is called ---*- C++ -*-===//

#include "Importers.h"
#include "Origin.h"

#include <structmember.h>

#include <array>
#include <deque>
#include <string>
#include <unordered_map>

using namespace wok;
using namespace wok::capture;

//===----------------------------------------------------------------------===//
// Finding objects
//===----------------------------------------------------------------------===//

/// One step of a path. Borrowed, or null: runs no Python code.
static PyObject *member(PyObject *owner, std::string_view name) {
  Ref<> key = Ref<>::steal(PyUnicode_FromStringAndSize(
      name.data(), static_cast<Py_ssize_t>(name.size())));
  if (!key) {
    PyErr_Clear();
    return nullptr;
  }
  if (PyModule_Check(owner))
    return PyDict_GetItem(PyModule_GetDict(owner), key);
  if (PyType_Check(owner))
    return _PyType_Lookup(reinterpret_cast<PyTypeObject *>(owner), key);
  return nullptr;
}

static PyObject *importedModule(std::string_view name) {
  PyObject *modules = PyImport_GetModuleDict();
  Ref<> key = Ref<>::steal(PyUnicode_FromStringAndSize(
      name.data(), static_cast<Py_ssize_t>(name.size())));
  PyObject *module = key ? PyDict_GetItem(modules, key) : nullptr;
  return module && PyModule_Check(module) ? module : nullptr;
}

PyObject *capture::findObject(std::string_view path) {
  // What was found stays: these are attributes of modules that no program
  // takes away.
  static auto &found = *new std::unordered_map<std::string, Ref<>>();
  auto known = found.find(std::string(path));
  if (known != found.end())
    return known->second;
  size_t end = path.find('.');
  PyObject *object = importedModule(path.substr(0, end));
  std::string_view rest = path;
  while (object && end != std::string_view::npos) {
    rest.remove_prefix(end + 1);
    end = rest.find('.');
    object = member(object, rest.substr(0, end));
  }
  if (object)
    found.emplace(std::string(path), Ref<>::share(object));
  return object;
}

//===----------------------------------------------------------------------===//
// Dtypes
//===----------------------------------------------------------------------===//

namespace {

struct DTypeNames {
  DType dtype;
  std::string_view torch, numpy, code; ///< `code` as np.dtype takes it.
};

} // namespace

static constexpr DTypeNames dtypeNames[] = {
    {DType::I1, "torch.bool", "bool", "?"},
    {DType::I8, "torch.int8", "int8", "i1"},
    {DType::U8, "torch.uint8", "uint8", "u1"},
    {DType::I16, "torch.int16", "int16", "i2"},
    {DType::I32, "torch.int32", "int32", "i4"},
    {DType::I64, "torch.int64", "int64", "i8"},
    {DType::F16, "torch.float16", "float16", "f2"},
    {DType::BF16, "torch.bfloat16", "", ""},
    {DType::F32, "torch.float32", "float32", "f4"},
    {DType::F64, "torch.float64", "float64", "f8"},
};

PyObject *capture::dtypeObject(DType dtype, Library library) {
  for (const DTypeNames &names : dtypeNames) {
    if (names.dtype != dtype)
      continue;
    if (library == Library::Torch)
      return findObject(names.torch);
    // np.dtype('float32') is one object for each of NumPy's own dtypes.
    static auto &descriptors = *new std::unordered_map<int, Ref<>>();
    Ref<> &descriptor = descriptors[static_cast<int>(dtype)];
    PyObject *type = findObject("numpy.dtype");
    if (!descriptor && type && !names.numpy.empty())
      descriptor = Ref<>::steal(
          PyObject_CallFunction(type, "s#", names.numpy.data(),
                                static_cast<Py_ssize_t>(names.numpy.size())));
    PyErr_Clear();
    return descriptor;
  }
  return nullptr;
}

std::optional<DType> capture::dtypeOf(PyObject *object, Library library) {
  auto is = [&](PyTypeObject *type) {
    return object == reinterpret_cast<PyObject *>(type);
  };
  if (is(&PyFloat_Type))
    return DType::F64;
  if (is(&PyLong_Type))
    return DType::I64;
  if (is(&PyBool_Type))
    return DType::I1;
  for (const DTypeNames &names : dtypeNames) {
    if (library == Library::Torch) {
      if (object == findObject(names.torch))
        return names.dtype;
      continue;
    }
    if (names.numpy.empty())
      continue;
    if (object == dtypeObject(names.dtype, library))
      return names.dtype;
    std::string type = "numpy." + std::string(names.numpy);
    if (names.dtype == DType::I1)
      type += '_';
    if (object == findObject(type))
      return names.dtype;
    if (PyUnicode_CheckExact(object) &&
        (PyUnicode_CompareWithASCIIString(
             object, std::string(names.numpy).c_str()) == 0 ||
         PyUnicode_CompareWithASCIIString(
             object, std::string(names.code).c_str()) == 0))
      return names.dtype;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

constexpr Row rows[] = {
#define WOK_CALLABLE(names, signature, importer, detail, isOperation)          \
  {names, signature, importer, detail, isOperation},
#include "Builtins.def"
#include "Numpy.def"
#include "Torch.def"
#undef WOK_CALLABLE
};

/// What stands in front of a name, where it is found, whose it is.
struct Prefix {
  std::string_view shorthand, path, shown;
  std::string_view module; ///< Imported when these names can be found.
};

constexpr Prefix prefixes[] = {
    {"T.", "torch.Tensor.", "Tensor.", "torch"},
    {"F.", "torch.nn.functional.", "F.", "torch"},
    {"nn.", "torch._C._nn.", "torch.nn.", "torch"},
    {"torch.", "torch.", "torch.", "torch"},
    {"np.", "numpy.", "numpy.", "numpy"},
    {"A.", "numpy.ndarray.", "ndarray.", "numpy"},
    {"math.", "math.", "math.", "math"},
    {"operator.", "_operator.", "operator.", "_operator"},
    {"builtins.", "builtins.", "", "builtins"},
};

class Table {
public:
  const CallableEntry *find(PyObject *callable) {
    for (size_t i = 0; i < std::size(modules); ++i)
      if (!filled[i] && isReady(modules[i])) {
        filled[i] = true;
        fill(modules[i]);
      }
    auto found = entries.find(callable);
    return found == entries.end() ? nullptr : &found->second;
  }

private:
  static constexpr std::string_view modules[] = {"builtins", "math",
                                                 "_operator", "numpy", "torch"};

  /// Whether the module has been imported to its end.
  static bool isReady(std::string_view name) {
    PyObject *module = importedModule(name);
    if (!module)
      return false;
    PyObject *spec = member(module, "__spec__");
    if (!spec || spec == Py_None)
      return true;
    Ref<> initializing =
        Ref<>::steal(PyObject_GetAttrString(spec, "_initializing"));
    PyErr_Clear();
    return !initializing || initializing.get() != Py_True;
  }

  void fill(std::string_view module) {
    for (const Row &row : rows) {
      std::string_view names = row.names;
      while (!names.empty()) {
        size_t end = names.find(' ');
        add(row, names.substr(0, end), module);
        names = end == std::string_view::npos ? std::string_view()
                                              : names.substr(end + 1);
      }
    }
  }

  void add(const Row &row, std::string_view name, std::string_view module) {
    for (const Prefix &prefix : prefixes) {
      if (!name.starts_with(prefix.shorthand))
        continue;
      if (prefix.module != module)
        return;
      std::string_view own = name.substr(prefix.shorthand.size());
      PyObject *object =
          findObject(std::string(prefix.path) + std::string(own));
      if (!object || !isWrittenIn(module, object))
        return;
      BoundRow &bound = boundRows.emplace_back();
      bound.row = &row;
      bound.callable = object;
      bound.overloads = parseSignature(row.signature);
      bound.name = std::string(prefix.shown) + std::string(own);
      bound.library = module == "torch" ? Library::Torch : Library::NumPy;
      bound.inPlace =
          module == "torch" && own.ends_with('_') && !own.ends_with("__");
      CallableEntry entry;
      entry.import = importRow;
      entry.detail = &bound;
      entry.isOperation = row.isOperation;
      entry.name = bound.name;
      if (PyFunction_Check(object))
        entry.code = Py_NewRef(PyFunction_GET_CODE(object));
      entries.emplace(object, std::move(entry));
      return;
    }
  }

  std::array<bool, std::size(modules)> filled = {};
  std::deque<BoundRow> boundRows;
  std::unordered_map<PyObject *, CallableEntry> entries;
};

} // namespace

const CallableEntry *wok::capture::findCallable(PyObject *callable) {
  // `findObject` holds the callables.
  static auto &table = *new Table();
  return table.find(callable);
}

int wok::capture::structureField(PyObject *structure, std::string_view name) {
  if (!PyType_Check(structure))
    return -1;
  const PyMemberDef *members =
      reinterpret_cast<PyTypeObject *>(structure)->tp_members;
  for (int i = 0; members && members[i].name; ++i)
    if (members[i].name == name)
      return i;
  return -1;
}
