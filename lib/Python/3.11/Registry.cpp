//===- Registry.cpp - The code objects that Wok watches -------------------===//
//
// Not co_extra: its free functions run in an interpreter that is half gone and
// crash there.
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

#include "CodeObject.h"
#include "HostCounters.h"

#include <algorithm>
#include <string_view>

namespace wok::python {

using capture::PendingException;
using capture::Ref;

namespace {

/// A well-mixed number for (seed, code, offset) that is the same in every
/// process.
uint64_t mix(uint64_t seed, std::string_view name, int32_t firstLine,
             int32_t offset) {
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull;
  auto feed = [&](uint64_t word) {
    state ^= word;
    state *= 0xff51afd7ed558ccdull;
    state ^= state >> 33;
  };
  for (char c : name)
    feed(static_cast<unsigned char>(c));
  feed(static_cast<uint32_t>(firstLine));
  feed(static_cast<uint32_t>(offset) + 1);
  return state;
}

/// Whether the process has imported PyTorch or NumPy. Once true it stays so.
bool hasTensorLibrary() {
  static bool found = false;
  if (found)
    return true;
  static PyObject *torch = PyUnicode_InternFromString("torch");
  static PyObject *numpy = PyUnicode_InternFromString("numpy");
  PyObject *modules = PyImport_GetModuleDict();
  if (!modules || !PyDict_CheckExact(modules) || !torch || !numpy)
    return false;
  found = PyDict_GetItem(modules, torch) || PyDict_GetItem(modules, numpy);
  return found;
}

std::shared_ptr<const Bytecode> decode(PyCodeObject *code) {
  std::optional<Bytecode> decoded = decodeCode(code);
  if (!decoded || decoded->entry() < 0)
    return nullptr;
  return std::make_shared<const Bytecode>(std::move(*decoded));
}

} // namespace

//===--- WatchedCode ------------------------------------------------------===//

void WatchedCode::release() {
  if (--references == 0)
    delete this;
}

WatchedCode::~WatchedCode() { dropTrapCode(); }

void WatchedCode::dropTrapCode() {
  if (!trap)
    return;
  if (trap->frames > 0)
    trap->retire();
  std::exchange(trap, nullptr)->release();
}

void WatchedCode::retireFlying() {
  if (trap && trap->frames > 0) {
    dropTrapCode();
    ++hostCounters.retired;
  }
}

void WatchedCode::startDispatching() {
  if (!dispatch || !hasTensorLibrary())
    return;
  dispatching = true;
  arm(initialSites(*dispatch));
}

void WatchedCode::makeTrapCode() {
  trap = TrapCode::create(original, decoded);
  if (!trap) {
    armed.clear();
    return;
  }
  ++hostCounters.copies;
  for (int32_t offset : armed)
    trap->addSite(offset);
}

void WatchedCode::arm(const std::vector<int32_t> &offsets) {
  for (int32_t offset : offsets) {
    auto place = std::lower_bound(armed.begin(), armed.end(), offset);
    if ((place != armed.end() && *place == offset) ||
        !decoded->trapLegal(offset))
      continue;
    armed.insert(place, offset);
    if (trap)
      trap->addSite(offset);
  }
}

void WatchedCode::disarm(const std::vector<int32_t> &offsets) {
  for (int32_t offset : offsets) {
    auto place = std::lower_bound(armed.begin(), armed.end(), offset);
    if (place == armed.end() || *place != offset)
      continue;
    armed.erase(place);
    if (trap)
      trap->removeSite(offset);
  }
  // Frames to come run on the original, as if nothing had been.
  if (armed.empty())
    dropTrapCode();
}

//===--- Registry ---------------------------------------------------------===//

Registry &Registry::get() {
  static auto &registry = *new Registry;
  return registry;
}

WatchedCode *Registry::findSlowly(PyCodeObject *code) {
  auto found = entries.find(code);
  if (found == entries.end())
    return nullptr;
  recent[hash(code)] = {code, found->second.watched};
  return found->second.watched;
}

WatchedCode *Registry::watch(PyCodeObject *code, const JitOptions &options) {
  if (WatchedCode *watched = find(code)) {
    if (watched->options == options || watched->disabled)
      return watched;
    forget(code);
  }
  return add(code, options);
}

WatchedCode *Registry::add(PyCodeObject *code, const JitOptions &options) {
  PendingException pending;
  if (!callback) {
    static PyMethodDef method = {"_code_died", codeDied, METH_O, nullptr};
    callback = Ref<>::steal(PyCFunction_New(&method, nullptr));
  }
  Ref<> weak = callback ? Ref<>::steal(PyWeakref_NewRef(
                              reinterpret_cast<PyObject *>(code), callback))
                        : Ref<>();
  if (!weak) {
    PyErr_Clear();
    return nullptr;
  }
  auto *watched = new WatchedCode;
  watched->original = code;
  watched->options = options;
  watched->decoded = decode(code);
  byWeakReference.emplace(weak.get(), code);
  entries.emplace(code, Entry{watched, std::move(weak)});
  recent[hash(code)] = {code, watched};
  if (!watched->decoded)
    return watched;

  watched->dispatch = makeCodeSites(code, options);
  watched->startDispatching();
  if (policy.mode != ArmPolicy::Mode::Auto) {
    Py_ssize_t length = 0;
    const char *name = PyUnicode_AsUTF8AndSize(code->co_qualname, &length);
    PyErr_Clear(); // A name with surrogates.
    std::string_view text(name ? name : "", name ? length : 0);
    std::vector<int32_t> offsets;
    for (const Instruction &instruction : watched->decoded->instructions())
      if (policy.mode == ArmPolicy::Mode::All ||
          mix(policy.seed, text, code->co_firstlineno, instruction.offset) %
                  5 ==
              0)
        offsets.push_back(instruction.offset);
    watched->arm(offsets);
  }
  return watched;
}

void Registry::forget(PyCodeObject *code) {
  auto found = entries.find(code);
  if (found == entries.end())
    return;
  Entry entry = std::move(found->second);
  entries.erase(found);
  byWeakReference.erase(entry.weak.get());
  if (recent[hash(code)].code == code)
    recent[hash(code)] = {};
  ++epoch;
  entry.watched->dropTrapCode();
  entry.watched->release();
}

PyObject *Registry::codeDied(PyObject *, PyObject *weak) {
  Registry &registry = get();
  auto found = registry.byWeakReference.find(weak);
  if (found != registry.byWeakReference.end()) {
    PyCodeObject *code = found->second;
    registry.entries.at(code).watched->original = nullptr;
    registry.forget(code);
  }
  Py_RETURN_NONE;
}

void Registry::clear() {
  std::vector<PyCodeObject *> codes;
  for (auto &[code, entry] : entries)
    if (!entry.watched->disabled)
      codes.push_back(code);
  for (PyCodeObject *code : codes)
    forget(code);
}

void Registry::retireFlying() {
  for (auto &[code, entry] : entries)
    entry.watched->retireFlying();
}

} // namespace wok::python
