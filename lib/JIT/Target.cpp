//===- Target.cpp - The machine that code is generated for ------*- C++ -*-===//

#include "wok/JIT/Target.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>

using namespace wok::jit;

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static const llvm::Target *hostTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(
      llvm::Triple(llvm::sys::getProcessTriple()), error);
}

std::unique_ptr<llvm::TargetMachine> Target::makeMachine() const {
  std::string error;
  const llvm::Target *target = hostTarget(error);
  llvm::TargetOptions options;
  // A multiplication and an addition round twice unless the program says fma.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // Position independent, for kernels may be further than 2 GB from the
  // runtime's functions.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(llvm::sys::getProcessTriple()), resolvedCpu,
      resolvedFeatures, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

/// What of `cpu` and `features` LLVM does not know; it would only warn on
/// stderr, or abort.
static llvm::Error checkSpec(const llvm::MCSubtargetInfo &known,
                             llvm::StringRef cpu, llvm::StringRef features) {
  if (!cpu.empty() && !known.isCPUStringValid(cpu))
    return makeError("unknown processor '" + cpu + "'");
  llvm::SmallVector<llvm::StringRef> parts;
  features.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    llvm::StringRef name = part.drop_front();
    if ((part.front() != '+' && part.front() != '-') ||
        llvm::none_of(known.getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &entry) {
                        return name == entry.Key;
                      }))
      return makeError("unknown processor feature '" + part + "'");
  }
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<Target>> Target::create(TargetSpec spec) {
  std::string error;
  const llvm::Target *llvmTarget = hostTarget(error);
  if (!llvmTarget)
    return makeError("no code generator for this machine: " + error);

  llvm::StringMap<bool> hostFeatures = llvm::sys::getHostCPUFeatures();
  std::shared_ptr<Target> target(new Target());
  target->resolvedCpu = std::move(spec.cpu);
  target->resolvedFeatures = std::move(spec.features);
  if (target->resolvedCpu.empty()) {
    target->resolvedCpu = llvm::sys::getHostCPUName();
    llvm::SubtargetFeatures features;
    // Sorted, so that equal machines give equal objects.
    std::vector<llvm::StringRef> names;
    for (const auto &feature : hostFeatures)
      names.push_back(feature.first());
    llvm::sort(names);
    for (llvm::StringRef name : names)
      features.AddFeature(name, hostFeatures[name]);
    std::string own = std::move(target->resolvedFeatures);
    target->resolvedFeatures = features.getString();
    if (!own.empty())
      target->resolvedFeatures += "," + own;
  }

  // A machine that knows all names, whatever the spec is.
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      llvmTarget->createMCSubtargetInfo(
          llvm::Triple(llvm::sys::getProcessTriple()), /*CPU=*/"",
          /*Features=*/""));
  if (llvm::Error unknown =
          checkSpec(*known, target->resolvedCpu, target->resolvedFeatures))
    return unknown;

  std::unique_ptr<llvm::TargetMachine> machine = target->makeMachine();
  if (!machine)
    return makeError("no target machine for '" + target->resolvedCpu + "'");
  const llvm::MCSubtargetInfo &subtarget = *machine->getMCSubtargetInfo();
  // A register's width is a decision of the pipeline, so that every target has
  // one.
  if (subtarget.checkFeatures("+avx512f") &&
      subtarget.checkFeatures("+avx512vl"))
    target->bytesOfVector = 64;
  else if (subtarget.checkFeatures("+avx2"))
    target->bytesOfVector = 32;
  llvm::SubtargetFeatures enabled;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures()) {
    enabled.AddFeature(feature.Key);
    auto host = hostFeatures.find(feature.Key);
    if (host != hostFeatures.end() && !host->second &&
        target->missingOnHost.empty())
      target->missingOnHost = feature.Key;
  }
  target->allEnabled = enabled.getString();
  target->idle.push_back(std::move(machine));
  return target;
}

Target::~Target() = default;

Target::Lease Target::lease() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<llvm::TargetMachine> machine = std::move(idle.back());
      idle.pop_back();
      return Lease(*this, std::move(machine));
    }
  }
  return Lease(*this, makeMachine());
}

Target::Lease::Lease(Target &target,
                     std::unique_ptr<llvm::TargetMachine> machine)
    : target(&target), machine(std::move(machine)) {}

Target::Lease::~Lease() {
  if (!machine)
    return;
  std::lock_guard lock(target->mutex);
  target->idle.push_back(std::move(machine));
}
