//===- Torch.h - Shared by the importers of PyTorch calls -------*- C++ -*-===//

#ifndef WOK_LIB_CAPTURE_TORCH_H
#define WOK_LIB_CAPTURE_TORCH_H

#include "Operand.h"

namespace wok::capture {

/// The result of a call: a new tensor laid out as eager does for an elementwise
/// operation on `tensors`; or, for an in-place method, argument 0 with `v`
/// written into it; or the argument `out` likewise.
std::optional<Value> torchFinish(Call &call, Emitter::V v,
                                 std::span<const Value> tensors,
                                 unsigned out = ~0u);

/// A new row-major tensor, or `out`.
std::optional<Value> torchFinishDense(Call &call, Emitter::V v,
                                      unsigned out = ~0u);

/// Binary operations by name: add sub mul div floor_divide trunc_divide
/// remainder fmod pow maximum minimum fmax fmin logical_and logical_or
/// logical_xor bitwise_and bitwise_or bitwise_xor shl shr eq ne lt le gt ge.
/// `Emitter::bad`, perhaps with a break, if eager would raise or Wok cannot.
Emitter::V torchBinary(Emitter &emitter, std::string_view name,
                       const Operand &a, const Operand &b);

/// Operators of tensors: `name` as for `torchBinary`, or "matmul".
std::optional<Value> torchOperator(Capture &capture, std::string_view name,
                                   Value lhs, Value rhs, bool inPlace);

// Compositions that several importers share, on values of a compute type.
Emitter::V softmaxOf(Emitter &emitter, Emitter::V x, int64_t dim);
Emitter::V logSoftmaxOf(Emitter &emitter, Emitter::V x, int64_t dim);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_TORCH_H
