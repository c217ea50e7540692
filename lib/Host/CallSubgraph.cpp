//===- CallSubgraph.cpp ---------------------------------------------------===//

#include "CallSubgraph.h"
#include "FrameModel.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace wok;
using namespace wok::host;
using namespace wok::runtime;

llvm::StringRef host::describe(Status status) {
  switch (status) {
  case Status::Ok:
    return "no error";
  case Status::IndexOutOfRange:
    return "an index is out of range";
  case Status::DivisionByZero:
    return "integer division by zero";
  }
  // Kernels OR their statuses.
  return "several errors";
}

llvm::Expected<std::vector<TensorValue>>
host::callSubgraph(const CompiledSubgraph &code,
                   llvm::ArrayRef<TensorValue> inputs) {
  auto outOfMemory = [] { return llvm::createStringError("out of memory"); };
  if (!llvm::all_of(inputs,
                    [](const TensorValue &value) { return value.isSet(); }))
    return outOfMemory();
  RunSizes sizes = RunSizes::of(code);
  std::vector<void *> data(sizes.pointers);
  std::vector<int64_t> dims(sizes.dims);
  RunBuffers buffers{&code, data.data(), sizes.dims ? dims.data() : nullptr,
                     sizes.dims ? dims.data() + sizes.outputExtents : nullptr};
  std::vector<TensorValue> slots(inputs.begin(), inputs.end());
  FrameModel model(slots);
  FrameModel::Exit exit;
  exit.inputs.resize(inputs.size());
  std::iota(exit.inputs.begin(), exit.inputs.end(), 0u);
  model.bindInputs(exit, nullptr, buffers);

  int64_t arenaBytes = code.arenaBytes;
  ArenaLayout layout;
  const int64_t *offsets = nullptr;
  if (code.shape) {
    std::vector<int64_t> bytes(code.transients.size());
    code.shape(buffers.dims, buffers.outputExtents, bytes.data());
    std::vector<ArenaRequest> requests = code.transients;
    for (size_t i = 0; i < requests.size(); ++i)
      requests[i].bytes = bytes[i];
    layout = packArena(requests, arenaAlignment);
    arenaBytes = layout.bytes;
    offsets = layout.offsets.data();
  } else if (buffers.dims) {
    int64_t *extent = buffers.outputExtents;
    for (const TensorSpec &output : code.outputs)
      extent = llvm::copy(output.extents, extent);
  }
  FrameModel::Outputs outputs;
  if (!model.prepare(exit, nullptr, buffers, outputs))
    return outOfMemory();
  ScratchScope scratch;
  std::byte *arena = scratch.reserve(arenaBytes);
  if (arenaBytes && !arena)
    return outOfMemory();
  auto status = static_cast<Status>(
      code.entry(data.data(), buffers.dims, arena, offsets));
  if (status != Status::Ok)
    return llvm::createStringError(describe(status));
  return std::move(outputs.values);
}
