//===- CodeObject.cpp - The bytecode of a code object -----------*- C++ -*-===//

#include "CodeObject.h"

#include <span>

namespace wok::python {

std::optional<Bytecode> decodeCode(PyCodeObject *code) {
  // A copy in which nothing is specialised.
  auto bytes = capture::Ref<>::steal(PyCode_GetCode(code));
  if (!bytes || !PyBytes_Check(bytes.get()) || !code->co_exceptiontable) {
    PyErr_Clear();
    return std::nullopt;
  }
  auto span = [](PyObject *object) {
    return std::span(
        reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(object)),
        static_cast<size_t>(PyBytes_GET_SIZE(object)));
  };
  return Bytecode::decode(span(bytes), span(code->co_exceptiontable));
}

} // namespace wok::python
