//===- Liveness.h - Which locals later bytecode reads -----------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_LIVENESS_H
#define WOK_LIB_PYTHON_3_11_LIVENESS_H

#include "Bytecode.h"

#include <Python.h>

#include <cstdint>
#include <vector>

namespace wok::python {

/// The slots (by `co_nlocalsplus`) that some path from `offset` on reads before
/// it writes them, exception handlers included. Cells and free variables are
/// always live. Deleting is reading: it raises if the local is unbound.
std::vector<bool> liveLocals(const Bytecode &bytecode, PyCodeObject *code,
                             int32_t offset);

/// Whether the code names a function that can look at all locals of the frame
/// (`locals`, `eval`, `sys._getframe`, ...), or WOK_KEEP_LOCALS=1 is set: then
/// every local stays.
bool keepsAllLocals(PyCodeObject *code);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_LIVENESS_H
