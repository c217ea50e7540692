//===- FrameModel.cpp -----------------------------------------------------===//

#include "FrameModel.h"

#include <algorithm>

using namespace wok;
using namespace wok::host;
using namespace wok::runtime;

static_assert(ObjectModel<FrameModel>);

bool FrameModel::step(const GuardRecord &record, Register *registers) noexcept {
  switch (record.kind) {
  case Load:
    registers[record.target] = &slots[record.operand];
    return slots[record.operand].isSet();
  case HasDType:
    return static_cast<uint64_t>(registers[record.source]->dtype()) ==
           record.operand;
  case HasRank:
    return registers[record.source]->extents().size() == record.operand;
  case HasExtent:
    return static_cast<uint64_t>(
               registers[record.source]->extents()[record.detail]) ==
           record.operand;
  case HasBits:
    return registers[record.source]->scalarBits() == record.operand;
  }
  return false;
}

bool FrameModel::bindInputs(const Exit &exit, Register *,
                            const RunBuffers &buffers) {
  std::vector<const TensorValue *> inputs;
  for (uint32_t slot : exit.inputs)
    inputs.push_back(&slots[slot]);
  if (exit.fits && !exit.fits(inputs))
    return false;
  int64_t *dims = buffers.dims;
  for (size_t i = 0; i < inputs.size(); ++i) {
    buffers.data[i] = inputs[i]->data();
    if (!dims)
      continue;
    const std::vector<int64_t> &extents = inputs[i]->extents();
    dims = std::copy(extents.begin(), extents.end(), dims);
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim--;) {
      dims[dim] = stride;
      stride *= std::max<int64_t>(extents[dim], 1);
    }
    dims += extents.size();
  }
  return true;
}

bool FrameModel::prepare(const Exit &, Register *, const RunBuffers &buffers,
                         Outputs &outputs) {
  if (!buffers.code)
    return true;
  const int64_t *extents = buffers.outputExtents;
  for (size_t i = 0; i < buffers.code->outputs.size(); ++i) {
    const TensorSpec &spec = buffers.code->outputs[i];
    std::vector<int64_t> shape = spec.extents;
    if (extents) {
      std::copy_n(extents, shape.size(), shape.begin());
      extents += shape.size();
    }
    TensorValue &value =
        outputs.values.emplace_back(spec.dtype, std::move(shape));
    if (!value.isSet())
      return false;
    buffers.output(i) = value.data();
  }
  return true;
}

bool FrameModel::commit(const Exit &exit, Register *, Outputs &outputs) {
  for (size_t i = 0; i < exit.outputs.size(); ++i)
    slots[exit.outputs[i]] = std::move(outputs.values[i]);
  resume = exit.resume;
  return true;
}
