//===- Target.h - The machine that code is generated for --------*- C++ -*-===//

#ifndef WOK_JIT_TARGET_H
#define WOK_JIT_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace wok::jit {

/// A processor by LLVM's names: `cpu` as `x86-64-v3`, `features` as
/// `+avx2,-fma`. Both empty: the processor this process runs on.
struct TargetSpec {
  std::string cpu;
  std::string features;
};

/// A processor, and the target machines that generate code for it.
///
/// Thread-safe. An LLVM target machine is not: a thread that generates code
/// leases one, and machines go back to a pool, so there are as many as threads
/// ever compiled at one time.
class Target {
public:
  /// An error names what of `spec` LLVM does not know.
  static llvm::Expected<std::shared_ptr<Target>> create(TargetSpec spec = {});
  ~Target();

  /// `cpu` and `features` as they reach LLVM: those of the host if the spec was
  /// empty.
  const std::string &cpu() const { return resolvedCpu; }
  const std::string &features() const { return resolvedFeatures; }
  /// Every feature that is on, also those that `cpu` implies: "+avx,+avx2,...".
  const std::string &enabledFeatures() const { return allEnabled; }

  /// Bytes of the widest vector register that code should use: 16, 32 or 64.
  unsigned vectorBytes() const { return bytesOfVector; }
  /// Whether code for this target may run in this process.
  bool runsOnHost() const { return missingOnHost.empty(); }
  /// The first feature that the host lacks; empty if it lacks none.
  llvm::StringRef missingFeature() const { return missingOnHost; }

  /// A target machine for one thread, until it is destroyed.
  class Lease {
  public:
    Lease(Target &target, std::unique_ptr<llvm::TargetMachine> machine);
    Lease(Lease &&) noexcept = default;
    ~Lease();
    llvm::TargetMachine &operator*() const { return *machine; }
    llvm::TargetMachine *operator->() const { return machine.get(); }

  private:
    Target *target;
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  Lease lease();

private:
  Target() = default;
  std::unique_ptr<llvm::TargetMachine> makeMachine() const;

  std::string resolvedCpu, resolvedFeatures, allEnabled, missingOnHost;
  unsigned bytesOfVector = 16;
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle;
};

} // namespace wok::jit

#endif // WOK_JIT_TARGET_H
