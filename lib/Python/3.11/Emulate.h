//===- Emulate.h - Trivial instructions at a site ---------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_EMULATE_H
#define WOK_LIB_PYTHON_3_11_EMULATE_H

#include "Internals.h"

#include <cstdint>

namespace wok::python {

class TrapCode;

/// Executes the instruction under the trap at `offset` for CPython, if it is
/// one that cannot raise, run Python or drop an object as `frame` stands: 90 %
/// of the instructions that begin a line. Returns the offset of the next one;
/// -1, with nothing changed, if CPython must do it.
int32_t emulate(_PyInterpreterFrame *frame, const TrapCode &trap,
                int32_t offset);

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_EMULATE_H
