//===- DispatchNothing.cpp - A dispatcher that captures nothing -----------===//
//
// Stands behind Host.h until the dispatcher lands: watched frames run on trap
// code, every arrival goes on in CPython.
//
//===----------------------------------------------------------------------===//

#include "3.11/Bytecode.h"
#include "wok/Capture/Ref.h"
#include "wok/Python/Host.h"

namespace wok::python {

using capture::Ref;

class CodeSites {};
void CodeSitesDeleter::operator()(CodeSites *sites) const { delete sites; }
CodeSitesPtr makeCodeSites(PyCodeObject *, const JitOptions &) {
  return CodeSitesPtr(new CodeSites);
}
std::vector<int32_t> initialSites(const CodeSites &) { return {}; }
Arrival arrive(CodeSites &, FrameView &) { return {}; }
PyObject *tryFrameless(CodeSites &, PyFunctionObject *, PyObject *const *,
                       size_t, PyObject *) {
  return nullptr;
}
bool markDisabled(PyObject *) { return true; }
bool isDisabled(PyObject *) { return false; }
void resetAll() {}
PyObject *statistics() { return PyDict_New(); }
void beginRecording() {}
PyObject *endRecording() {
  return Py_BuildValue("{s:[],s:[]}", "subgraphs", "breaks");
}

} // namespace wok::python
