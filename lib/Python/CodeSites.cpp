//===- CodeSites.cpp - The sites of one code object -----------------------===//

#include "CodeSites.h"

#include "3.11/CodeObject.h"

#include "wok/Capture/Tensors.h"
#include "wok/Compiler/Compiler.h"
#include "wok/Runtime/Contract.h"
#include "wok/Runtime/Counters.h"
#include "wok/Runtime/Parallel.h"

#include <unordered_set>

namespace wok::python {

using namespace capture;

namespace {

// Everything below lives as long as the process: what still runs at exit finds
// it.

std::unordered_set<CodeSites *> &allCodeSites() {
  static auto *all = new std::unordered_set<CodeSites *>;
  return *all;
}

/// Code objects of functions that are never captured. Held: an address says
/// which.
std::unordered_set<PyObject *> &disabledCodes() {
  static auto *all = new std::unordered_set<PyObject *>;
  return *all;
}

bool isFinalizing() { return !Py_IsInitialized() || _Py_IsFinalizing(); }

/// Whether there is an operation in the code that might be one on tensors.
bool isWorthWatching(const Bytecode &bytecode) {
  for (const Instruction &instruction : bytecode.instructions())
    switch (instruction.op) {
    case Op::BinaryOp:
    case Op::BinarySubscr:
    case Op::CompareOp:
    case Op::UnaryNegative:
    case Op::UnaryInvert:
    case Op::Call:
    case Op::CallFunctionEx:
    case Op::StoreSubscr:
    case Op::LoadAttr:
      return true;
    default:
      break;
    }
  return false;
}

} // namespace

CodeSites::CodeSites(PyCodeObject *code, const JitOptions &options)
    : options(options) {
  allCodeSites().insert(this);
  std::optional<Bytecode> bytecode = decodeCode(code);
  if (!bytecode || bytecode->entry() < 0 || !isWorthWatching(*bytecode))
    return;
  entry = bytecode->entry();
  entryState = &add(entry);
  constexpr int unusual = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR |
                          CO_COROUTINE | CO_ASYNC_GENERATOR |
                          CO_ITERABLE_COROUTINE;
  framelessCode = !(code->co_flags & unusual) && code->co_ncellvars == 0;
}

CodeSites::~CodeSites() { allCodeSites().erase(this); }

SiteState &CodeSites::add(int32_t offset) {
  std::unique_ptr<SiteState> &state = sites[offset];
  if (!state) {
    state = std::make_unique<SiteState>();
    state->history.dynamic = options.dynamic;
  }
  return *state;
}

void CodeSites::clear() {
  for (auto &[offset, state] : sites) {
    state->site.clear();
    state->site.budget.reset();
    state->history = SiteHistory();
    state->history.dynamic = options.dynamic;
    state->returns = false;
    state->fruitless = 0;
  }
}

void CodeSites::dropDead(SiteState &state) {
  std::vector<const Specialization *> dead;
  state.site.forEach([&](const Specialization &entry) {
    if (entry.exit.guards->isDead())
      dead.push_back(&entry);
  });
  for (const Specialization *entry : dead)
    state.site.erase(entry);
}

void noteLibraries() {
  findTensorLibraries();
  runtime::findLoadedOpenMP();
  runtime::findLoadedContractLibraries();
}

//===----------------------------------------------------------------------===//
// Host.h
//===----------------------------------------------------------------------===//

void CodeSitesDeleter::operator()(CodeSites *sites) const {
  // At the end of the interpreter objects can no longer be let go of.
  if (!isFinalizing())
    delete sites;
}

CodeSitesPtr makeCodeSites(PyCodeObject *code, const JitOptions &options) {
  static bool warm = false;
  if (!warm) {
    warm = true;
    Compiler::get().warmUp();
  }
  return CodeSitesPtr(new CodeSites(code, options));
}

std::vector<int32_t> initialSites(const CodeSites &sites) {
  return sites.entry < 0 ? std::vector<int32_t>()
                         : std::vector<int32_t>{sites.entry};
}

bool markDisabled(PyObject *function) {
  PyObject *code =
      PyFunction_Check(function) ? PyFunction_GET_CODE(function) : function;
  if (!PyCode_Check(code)) {
    PyErr_SetString(PyExc_TypeError, "wok.disable takes a Python function");
    return false;
  }
  if (disabledCodes().insert(code).second)
    Py_INCREF(code);
  return true;
}

bool isDisabled(PyObject *function) {
  return PyFunction_Check(function) &&
         disabledCodes().contains(PyFunction_GET_CODE(function));
}

void resetAll() {
  for (CodeSites *sites : allCodeSites())
    sites->clear();
  runtime::resetCounters();
  runtime::collectRetired();
}

PyObject *statistics() {
  Ref<> dict = Ref<>::steal(PyDict_New());
  auto counters = runtime::readCounters();
  for (size_t i = 0; dict && i < counters.size(); ++i) {
    Ref<> number = Ref<>::steal(PyLong_FromUnsignedLongLong(counters[i]));
    Ref<> name = Ref<>::steal(PyUnicode_FromString(
        std::string(toString(static_cast<runtime::Counter>(i))).c_str()));
    if (!number || !name || PyDict_SetItem(dict, name, number) < 0)
      return nullptr;
  }
  return dict.release();
}

} // namespace wok::python
