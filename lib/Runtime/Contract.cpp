//===- Contract.cpp - Who computes a matrix product -----------------------===//

#include "wok/Runtime/Contract.h"
#include "ContractBackends.h"
#include "wok/Runtime/CompiledSubgraph.h"

#include <atomic>
#include <mutex>

using namespace wok;
using namespace wok::runtime;

namespace {

std::atomic<const ContractBackend *> host{nullptr}, torch{nullptr},
    blas{nullptr};
thread_local const char *last = "";

/// A library call costs up to a microsecond before it begins.
constexpr int64_t smallWork = 16 * 16 * 16;

bool run(const ContractBackend *backend, const WokContractArgs &args) {
  if (!backend || !backend->run(args))
    return false;
  last = backend->name;
  return true;
}

} // namespace

void wok::runtime::setHostContractBackend(
    const ContractBackend *backend) noexcept {
  host.store(backend, std::memory_order_release);
}

void wok::runtime::findLoadedContractLibraries() noexcept {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!torch.load(std::memory_order_relaxed))
    torch.store(findTorchBackend(), std::memory_order_release);
  if (!blas.load(std::memory_order_relaxed))
    blas.store(findBlasBackend(), std::memory_order_release);
}

const char *wok::runtime::lastContractBackend() noexcept { return last; }

int32_t wok_contract(const WokContractArgs *args) {
  constexpr auto ok = static_cast<int32_t>(Status::Ok);
  if (run(host.load(std::memory_order_acquire), *args))
    return ok;
  // Libraries get no empty products, and no small ones.
  bool worth = args->batch > 0 && args->m > 0 && args->n > 0 && args->k > 0 &&
               args->batch * args->m * args->n * args->k >= smallWork;
  if (worth && (run(torch.load(std::memory_order_acquire), *args) ||
                run(blas.load(std::memory_order_acquire), *args) ||
                run(oneDnnBackend(), *args)))
    return ok;
  contractByLoops(*args);
  last = "loops";
  return ok;
}
