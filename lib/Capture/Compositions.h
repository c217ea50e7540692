//===- Compositions.h - What both libraries compute alike -------*- C++ -*-===//
//
// Each is the operation of PyTorch and of NumPy. `Emitter::bad`, perhaps with a
// break, where eager would raise or Wok cannot.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_COMPOSITIONS_H
#define WOK_LIB_CAPTURE_COMPOSITIONS_H

#include "Operand.h"

#include <string_view>

namespace wok::capture {

/// `Emitter::bad`, with a break that says what is not supported.
Emitter::V unsupported(Emitter &emitter, std::string_view why);

/// `and`, `or` or `xor` of the truth of the operands.
Emitter::V logicalOf(Emitter &emitter, std::string_view op, const Operand &a,
                     const Operand &b);

/// `shl` or `shr` of an integer tensor by a number within the width of `dtype`:
/// beyond it the libraries differ.
Emitter::V shiftByNumber(Emitter &emitter, std::string_view name,
                         const Operand &a, const Operand &b, DType dtype);

/// fmax and fmin, by `op` max or min: NaN loses.
Emitter::V ignoreNaN(Emitter &emitter, std::string_view op, Emitter::V a,
                     Emitter::V b);

/// `a @ b`, of one dtype: vectors, matrices, and stacks of them.
Emitter::V matmul(Emitter &emitter, Emitter::V a, Emitter::V b);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_COMPOSITIONS_H
