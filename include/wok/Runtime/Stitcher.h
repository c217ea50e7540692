//===- Stitcher.h - Run a specialization ------------------------*- C++ -*-===//

#ifndef WOK_RUNTIME_STITCHER_H
#define WOK_RUNTIME_STITCHER_H

#include "wok/Runtime/Arena.h"
#include "wok/Runtime/Site.h"

#include <chrono>

namespace wok::runtime {

/// How an arrival at a site ended.
enum class RunResult : uint8_t {
  Committed, ///< The frame stands where the exit says.
  Refused,   ///< Nothing was done: the interpreter goes on at the site.
  Raised,    ///< The host met an error of its own while it committed.
};

namespace detail {

/// Room on the stack for what nearly all runs need.
template <class T, size_t inlineCount>
class StackArray {
public:
  explicit StackArray(size_t count)
      : large(count > inlineCount ? std::make_unique_for_overwrite<T[]>(count)
                                  : nullptr) {}
  T *data() { return large ? large.get() : small; }

private:
  T small[inlineCount];
  std::unique_ptr<T[]> large;
};

/// One call of generated code.
struct KernelCall {
  EntryFn entry;
  void *const *data;
  const int64_t *dims;
  std::byte *arena;
  const int64_t *offsets;

  static int32_t run(void *self) {
    auto &call = *static_cast<KernelCall *>(self);
    return call.entry(call.data, call.dims, call.arena, call.offsets);
  }
};

} // namespace detail

/// Runs `entry`, whose guards hold on the model's frame and left `registers`:
/// inputs, output extents, outputs, arena, kernels, exit. Nothing of the
/// program changes before the exit is committed, so that a run that cannot go
/// on is dropped and the interpreter does the work. The caller keeps the
/// `Lookup` that found `entry` open.
template <ObjectModel M>
RunResult run(M &model, const Specialization<M> &entry,
              typename M::Register *registers) {
  typename M::Outputs outputs;
  auto refuse = [&](Status status) {
    count(Counter::Fallbacks);
    if (EventStream::listening()) [[unlikely]]
      EventStream::emit({.kind = Event::Kind::FellBack,
                         .text = entry.code ? std::string_view(entry.code->name)
                                            : std::string_view(),
                         .number = static_cast<uint32_t>(status)});
    return RunResult::Refused;
  };

  if (!entry.code) {
    if (!model.prepare(entry.exit, registers, RunBuffers(), outputs))
      return refuse(Status::Ok);
    count(Counter::Runs);
    return model.commit(entry.exit, registers, outputs) ? RunResult::Committed
                                                        : RunResult::Raised;
  }

  const CompiledSubgraph &code = *entry.code;
  const RunSizes &sizes = entry.sizes;
  detail::StackArray<void *, 32> data(sizes.pointers);
  detail::StackArray<int64_t, 64> dims(sizes.dims);
  RunBuffers buffers{&code, data.data(), sizes.dims ? dims.data() : nullptr,
                     sizes.dims ? dims.data() + sizes.outputExtents : nullptr};
  if (!model.bindInputs(entry.exit, registers, buffers)) [[unlikely]]
    return refuse(Status::Ok);

  int64_t arenaBytes = code.arenaBytes;
  const int64_t *offsets = nullptr;
  if (code.shape) {
    detail::StackArray<int64_t, 32> bytes(code.transients.size());
    code.shape(buffers.dims, buffers.outputExtents, bytes.data());
    const ArenaLayout &layout = entry.layouts.find(
        code.transients, {bytes.data(), code.transients.size()});
    arenaBytes = layout.bytes;
    offsets = layout.offsets.data();
  } else if (buffers.dims) {
    int64_t *extent = buffers.outputExtents;
    for (const TensorSpec &output : code.outputs)
      extent = std::copy(output.extents.begin(), output.extents.end(), extent);
  }
  if (!model.prepare(entry.exit, registers, buffers, outputs)) [[unlikely]]
    return refuse(Status::Ok);

  auto started = EventStream::listening()
                     ? std::chrono::steady_clock::now()
                     : std::chrono::steady_clock::time_point();
  int32_t status;
  {
    detail::KernelCall call{code.entry, buffers.data, buffers.dims, nullptr,
                            offsets};
    if (arenaBytes == 0) {
      status = model.runKernels(entry.exit, detail::KernelCall::run, &call);
    } else {
      ScratchScope scratch;
      call.arena = scratch.reserve(arenaBytes);
      if (!call.arena) [[unlikely]]
        return refuse(Status::Ok);
      status = model.runKernels(entry.exit, detail::KernelCall::run, &call);
    }
  }
  if (status != static_cast<int32_t>(Status::Ok)) [[unlikely]]
    return refuse(static_cast<Status>(status));

  count(Counter::Runs);
  count(Counter::OpsCompiled, code.operations);
  if (EventStream::listening()) [[unlikely]]
    EventStream::emit(
        {.kind = Event::Kind::Ran,
         .text = code.name,
         .number = entry.number,
         .nanoseconds = (std::chrono::steady_clock::now() - started).count()});
  return model.commit(entry.exit, registers, outputs) ? RunResult::Committed
                                                      : RunResult::Raised;
}

/// Looks for a specialization of `site` whose guards hold on the model's frame
/// and runs it. False: there is none, and `lookup` says why.
template <ObjectModel M>
bool tryRun(M &model, Site<M> &site, Lookup<M> &lookup, RunResult &result) {
  const Specialization<M> *entry = site.find(model, lookup);
  if (!entry) [[unlikely]]
    return false;
  result = run(model, *entry, lookup.registers());
  return true;
}

} // namespace wok::runtime

#endif // WOK_RUNTIME_STITCHER_H
