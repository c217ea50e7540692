//===- CodeObject.h - The bytecode of a code object -------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_CODEOBJECT_H
#define WOK_LIB_PYTHON_3_11_CODEOBJECT_H

#include "Bytecode.h"

#include "wok/Capture/Ref.h"

#include <optional>

namespace wok::python {

/// Decodes the pristine bytecode of `code`. Nullopt, without an exception, if
/// it is not what a compiler emits.
std::optional<Bytecode> decodeCode(PyCodeObject *code);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_CODEOBJECT_H
