//===- JIT.cpp - Objects linked into this process ---------------*- C++ -*-===//

#include "wok/JIT/JIT.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>

using namespace wok::jit;
namespace orc = llvm::orc;

// What ORC reported on this thread; the error that it returns says only which
// symbols failed.
static thread_local std::string reported;

struct JIT::Impl {
  std::unique_ptr<orc::LLJIT> lljit;
  /// What all objects link against.
  orc::JITDylib *runtime = nullptr;
  std::atomic<uint64_t> count = 0;

  orc::ExecutionSession &session() { return lljit->getExecutionSession(); }
};

struct Code::Impl {
  std::shared_ptr<JIT> jit;
  orc::JITDylib *dylib;
};

JIT::JIT() : impl(std::make_unique<Impl>()) {}
JIT::~JIT() = default;

llvm::Expected<std::shared_ptr<JIT>>
JIT::create(std::span<const Symbol> symbols) {
  // Linking happens on the thread that asks for it.
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();

  orc::LLJITBuilder builder;
  builder.setExecutorProcessControl(std::move(*control))
      .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(
          llvm::Triple(llvm::sys::getProcessTriple())))
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .setObjectLinkingLayerCreator(
          [](orc::ExecutionSession &session)
              -> llvm::Expected<std::unique_ptr<orc::ObjectLayer>> {
            return std::make_unique<orc::ObjectLinkingLayer>(session);
          });
  auto lljit = builder.create();
  if (!lljit)
    return lljit.takeError();

  std::shared_ptr<JIT> jit(new JIT());
  jit->self = jit;
  jit->impl->lljit = std::move(*lljit);
  orc::ExecutionSession &session = jit->impl->session();
  session.setErrorReporter([](llvm::Error error) {
    if (!reported.empty())
      reported += "; ";
    reported += llvm::toString(std::move(error));
  });

  jit->impl->runtime = &session.createBareJITDylib("runtime");
  orc::SymbolMap map;
  for (const Symbol &symbol : symbols)
    map[session.intern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address),
        llvm::JITSymbolFlags::Exported};
  if (llvm::Error error =
          jit->impl->runtime->define(orc::absoluteSymbols(std::move(map))))
    return error;
  return jit;
}

llvm::Expected<std::shared_ptr<const Code>>
JIT::addObject(std::unique_ptr<llvm::MemoryBuffer> object,
               llvm::StringRef required) {
  orc::ExecutionSession &session = impl->session();
  orc::JITDylib &dylib = session.createBareJITDylib(
      "object" + std::to_string(impl->count.fetch_add(1)));
  dylib.addToLinkOrder(*impl->runtime);
  auto codeImpl = std::make_unique<Code::Impl>();
  codeImpl->jit = self.lock();
  codeImpl->dylib = &dylib;
  // Removes the dylib on every way out but success.
  std::shared_ptr<const Code> code(new Code(std::move(codeImpl)));

  reported.clear();
  auto explain = [](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (!reported.empty())
      text = std::exchange(reported, {}) + " (" + text + ")";
    return llvm::createStringError(text);
  };
  if (llvm::Error error = impl->lljit->addObjectFile(dylib, std::move(object)))
    return explain(std::move(error));
  auto address = session.lookup({&dylib}, session.intern(required));
  if (!address)
    return explain(address.takeError());
  return code;
}

Code::Code(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Code::~Code() {
  // Nothing can be done about an error here, and ORC has kept what it could not
  // free.
  llvm::consumeError(impl->jit->impl->session().removeJITDylib(*impl->dylib));
}

void *Code::lookup(llvm::StringRef symbol) const {
  orc::ExecutionSession &session = impl->jit->impl->session();
  auto address = session.lookup({impl->dylib}, session.intern(symbol));
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->getAddress().toPtr<void *>();
}
