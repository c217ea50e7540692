//===- Specialization.cpp -------------------------------------------------===//

#include "wok/Runtime/Specialization.h"

#include <algorithm>

using namespace wok::runtime;

RunSizes RunSizes::of(const CompiledSubgraph &code) {
  RunSizes sizes;
  sizes.pointers =
      static_cast<uint32_t>(code.inputs.size() + code.outputs.size());
  bool reads = code.shape != nullptr;
  auto isSymbolic = [](int64_t extent) { return extent == dynamicExtent; };
  for (const TensorSpec &input : code.inputs) {
    reads |= input.strided || std::ranges::any_of(input.extents, isSymbolic);
    sizes.dims += 2 * static_cast<uint32_t>(input.extents.size());
  }
  sizes.outputExtents = sizes.dims;
  for (const TensorSpec &output : code.outputs) {
    reads |= std::ranges::any_of(output.extents, isSymbolic);
    sizes.outputDims += static_cast<uint32_t>(output.extents.size());
  }
  sizes.dims = reads ? sizes.dims + sizes.outputDims : 0;
  return sizes;
}

uint32_t wok::runtime::nextSpecializationNumber() noexcept {
  static std::atomic<uint32_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}
