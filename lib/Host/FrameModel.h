//===- FrameModel.h - The runtime's view of a wok.frame ---------*- C++ -*-===//

#ifndef WOK_LIB_HOST_FRAMEMODEL_H
#define WOK_LIB_HOST_FRAMEMODEL_H

#include "wok/Host/TensorValue.h"
#include "wok/Runtime/Stitcher.h"

#include <functional>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace wok::host {

/// A frame in the runtime's terms: numbered slots that hold tensors. The rest
/// of the frame is the interpreter's.
struct FrameModel {
  using Register = const TensorValue *;
  enum GuardKind : uint16_t {
    Load,      ///< The tensor in slot `operand`, into register `target`.
    HasDType,  ///< Register `source` has the dtype `operand`.
    HasRank,   ///< Register `source` has the rank `operand`.
    HasExtent, ///< Dimension `detail` of register `source` is `operand`.
    HasBits,   ///< The element of register `source` has the bits `operand`.
  };

  /// Where the inputs are, where the outputs go, and where the frame goes on.
  struct Exit {
    std::vector<uint32_t> inputs, outputs;
    mlir::Operation *resume = nullptr;
    /// Whether the extents of these inputs fit the operations; empty: always.
    std::function<bool(const std::vector<const TensorValue *> &)> fits = {};
  };
  struct Outputs {
    std::vector<TensorValue> values;
  };

  explicit FrameModel(std::vector<TensorValue> &slots) : slots(slots) {}

  bool step(const runtime::GuardRecord &record, Register *registers) noexcept;
  bool bindInputs(const Exit &exit, Register *,
                  const runtime::RunBuffers &buffers);
  bool prepare(const Exit &exit, Register *, const runtime::RunBuffers &buffers,
               Outputs &outputs);
  int32_t runKernels(const Exit &, int32_t (*kernels)(void *), void *ctx) {
    return kernels(ctx);
  }
  bool commit(const Exit &exit, Register *, Outputs &outputs);

  std::vector<TensorValue> &slots;
  mlir::Operation *resume = nullptr; ///< After a commit.
};

using FrameSpecialization = runtime::Specialization<FrameModel>;
using FrameSite = runtime::Site<FrameModel>;

} // namespace wok::host

#endif // WOK_LIB_HOST_FRAMEMODEL_H
