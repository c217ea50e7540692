//===- ModelHost.h - The smallest interpreter -------------------*- C++ -*-===//

#ifndef WOK_TEST_UNIT_RUNTIME_MODELHOST_H
#define WOK_TEST_UNIT_RUNTIME_MODELHOST_H

#include "wok/Runtime/Stitcher.h"

#include <vector>

namespace wok::runtime::test {

/// Locals are vectors of floats with a tag that guards can ask for.
struct Local {
  int64_t tag = 0;
  std::vector<float> values;
};

struct Model {
  using Register = const Local *;
  enum GuardKind : uint16_t { Load, HasTag, HasSize };

  struct Exit {
    std::vector<size_t> inputs = {}; ///< Locals.
    size_t result = 0;               ///< The local that output 0 goes to.
    bool refuseInputs = false, refuseOutputs = false, failCommit = false;
    std::shared_ptr<const void> kept =
        {}; ///< Something that must live as long as the exit.
  };
  struct Outputs {
    Outputs() { ++alive; }
    ~Outputs() { --alive; }
    std::vector<float> values;
    static inline std::atomic<int> alive{0};
  };

  std::vector<Local> *frame;
  int steps = 0;

  explicit Model(std::vector<Local> &frame) : frame(&frame) {}

  bool step(const GuardRecord &record, Register *registers) noexcept {
    ++steps;
    switch (record.kind) {
    case Load:
      if (record.operand >= frame->size())
        return false;
      registers[record.target] = &(*frame)[record.operand];
      return true;
    case HasTag:
      return registers[record.source]->tag ==
             static_cast<int64_t>(record.operand);
    case HasSize:
      return registers[record.source]->values.size() == record.operand;
    }
    return false;
  }
  bool bindInputs(const Exit &exit, Register *registers,
                  const RunBuffers &buffers) {
    int64_t *dims = buffers.dims;
    for (size_t i = 0; i < exit.inputs.size(); ++i) {
      Local &local = (*frame)[exit.inputs[i]];
      buffers.data[i] = local.values.data();
      if (dims) {
        *dims++ = static_cast<int64_t>(local.values.size());
        *dims++ = 1;
      }
    }
    return !exit.refuseInputs;
  }
  bool prepare(const Exit &exit, Register *registers, const RunBuffers &buffers,
               Outputs &outputs) {
    if (buffers.code) {
      int64_t extent = buffers.dims ? buffers.outputExtents[0]
                                    : buffers.code->outputs[0].extents[0];
      outputs.values.resize(extent);
      buffers.output(0) = outputs.values.data();
    }
    return !exit.refuseOutputs;
  }
  int32_t runKernels(const Exit &exit, int32_t (*kernels)(void *), void *ctx) {
    return kernels(ctx);
  }
  bool commit(const Exit &exit, Register *registers, Outputs &outputs) {
    if (exit.failCommit)
      return false;
    (*frame)[exit.result].values = std::move(outputs.values);
    return true;
  }
};

/// Guards that local `index` has `tag`.
inline GuardProgram hasTag(uint64_t index, uint64_t tag) {
  GuardProgram program;
  program.records = {{Model::Load, 0, 0, 0, index},
                     {Model::HasTag, 0, 0, 0, tag}};
  program.registers = 1;
  return program;
}

/// Code for one input and one output of `extent` floats.
inline std::shared_ptr<CompiledSubgraph> code(EntryFn entry,
                                              int64_t extent = 2) {
  auto result = std::make_shared<CompiledSubgraph>();
  result->name = "f";
  result->inputs = {{DType::F32, false, {extent}}};
  result->outputs = {{DType::F32, false, {extent}}};
  result->entry = entry;
  result->operations = 1;
  return result;
}

} // namespace wok::runtime::test

#endif // WOK_TEST_UNIT_RUNTIME_MODELHOST_H
