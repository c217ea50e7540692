//===- Numpy.h - Shared by the importers of NumPy calls ---------*- C++ -*-===//

#ifndef WOK_LIB_CAPTURE_NUMPY_H
#define WOK_LIB_CAPTURE_NUMPY_H

#include "Operand.h"

namespace wok::capture {

/// The ufunc of the operator (named as for torchBinary, or "matmul") on arrays
/// and numbers.
std::optional<Value> numpyOperator(Capture &capture, std::string_view name,
                                   Value lhs, Value rhs, bool inPlace);
std::optional<Value> numpyUnaryOperator(Capture &capture, char op,
                                        Value operand);

/// A new array laid out as a ufunc does for `tensors`; or `out` written to.
std::optional<Value> numpyFinish(Call &call, Emitter::V v,
                                 std::span<const Value> tensors,
                                 unsigned out = ~0u);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_NUMPY_H
