//===- JIT.h - Objects linked into this process -----------------*- C++ -*-===//

#ifndef WOK_JIT_JIT_H
#define WOK_JIT_JIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <span>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace wok::jit {

/// A symbol that generated code may call, and where it is.
struct Symbol {
  const char *name;
  void *address;
};

/// What any generated code may need from outside: `memcpy` and its kin, and the
/// conversions of half-precision floats that processors without F16C leave to a
/// library.
std::span<const Symbol> standardSymbols();

class JIT;

/// Machine code in this process. Its destruction removes it: nobody may run it
/// then.
class Code {
public:
  ~Code();
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  /// The address of `symbol`, or null if the object does not define it.
  void *lookup(llvm::StringRef symbol) const;
  template <class Fn>
  Fn lookupAs(llvm::StringRef symbol) const {
    return reinterpret_cast<Fn>(lookup(symbol));
  }

private:
  friend class JIT;
  struct Impl;
  explicit Code(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Links objects into this process by ORC's LLJIT and JITLink.
///
/// Thread-safe. Objects do not see each other: each has its own names, and
/// `symbols` besides. No symbol of the process is found by name, so that what a
/// kernel may call is what was given here.
class JIT {
public:
  static llvm::Expected<std::shared_ptr<JIT>>
  create(std::span<const Symbol> symbols);
  ~JIT();
  JIT(const JIT &) = delete;
  JIT &operator=(const JIT &) = delete;

  /// Links `object`, for one `required` symbol at least, at once. An error
  /// names the symbols that are missing. The result keeps the JIT alive.
  llvm::Expected<std::shared_ptr<const Code>>
  addObject(std::unique_ptr<llvm::MemoryBuffer> object,
            llvm::StringRef required);

private:
  friend class Code;
  struct Impl;
  JIT();
  std::unique_ptr<Impl> impl;
  std::weak_ptr<JIT> self;
};

} // namespace wok::jit

#endif // WOK_JIT_JIT_H
