//===- Parallel.h - Loops over several threads ------------------*- C++ -*-===//
//
// One function that kernels call. In a process that has loaded libgomp
// (PyTorch's) it runs on that pool and obeys its thread count: two pools would
// fight for the CPUs, as libgomp's threads spin between loops. Otherwise, and
// in an `OwnPoolScope`, on a pool of Wok's own, started at the first loop that
// is worth it. On a busy machine that one is better: a libgomp loop waits until
// each thread of the team was scheduled, ours for none that did not begin.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_RUNTIME_PARALLEL_H
#define WOK_RUNTIME_PARALLEL_H

#include <cstdint>

extern "C" {

/// Calls `body(first, last, ctx)` on disjoint pieces that cover [begin, end),
/// on several threads, and returns the OR of what the calls returned. Each
/// piece starts a multiple of `grain` after `begin` and is a multiple of
/// `grain` long, but for the last. Serial if there are fewer than two such
/// pieces, and within another loop.
///
/// `body` does not throw. It may run on any thread, with the floating-point
/// modes of the caller; the floating-point exception flags that it raises are
/// set on the calling thread afterwards.
int32_t wok_parallel_for(int64_t begin, int64_t end, int64_t grain,
                         int32_t (*body)(int64_t, int64_t, void *), void *ctx);

} // extern "C"

namespace wok::runtime {

/// Threads that a loop which begins now on this thread may use: 1 within a
/// loop; what OpenMP says where its pool is used; else `WOK_NUM_THREADS`, else
/// the CPUs this process may run on, but no more than a loaded OpenMP says.
int threadCount() noexcept;

/// While one lives, loops of this thread run on Wok's own pool if `isWanted`:
/// for a host whose other code does not use libgomp.
class OwnPoolScope {
public:
  explicit OwnPoolScope(bool isWanted) noexcept;
  ~OwnPoolScope();
  OwnPoolScope(const OwnPoolScope &) = delete;
  OwnPoolScope &operator=(const OwnPoolScope &) = delete;

private:
  bool before;
};

/// Looks again for a loaded libgomp. It is looked for at the first loop; a host
/// that loads one later calls this.
void findLoadedOpenMP() noexcept;

/// True if loops run on libgomp's pool, but for an `OwnPoolScope`.
bool usesOpenMP() noexcept;

/// Sets the threads of Wok's own pool (1 to 256), for tests and tools. Not
/// while loops run.
void setOwnPoolThreads(int count) noexcept;

/// `wok_parallel_for` on a callable `int32_t(int64_t first, int64_t last)`,
/// which must not throw.
template <class Body>
int32_t parallelFor(int64_t begin, int64_t end, int64_t grain, Body body) {
  auto call = [](int64_t first, int64_t last, void *ctx) -> int32_t {
    return (*static_cast<Body *>(ctx))(first, last);
  };
  return wok_parallel_for(begin, end, grain, call, &body);
}

} // namespace wok::runtime

#endif // WOK_RUNTIME_PARALLEL_H
