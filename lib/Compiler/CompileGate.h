//===- CompileGate.h - Compiles against fork and exit -----------*- C++ -*-===//

#ifndef WOK_LIB_COMPILER_COMPILEGATE_H
#define WOK_LIB_COMPILER_COMPILEGATE_H

namespace wok {

/// Says that a compile is under way on this thread.
///
/// LLVM and MLIR have locks and half-made state while they work. A child of
/// `fork` would inherit them locked, with nobody to unlock them; so a fork
/// waits until no compile is under way (one takes about 10 ms) and none begins
/// until it is done. The end of a thread that compiled counts as a compile. And
/// at the end of the process LLVM's statics are destroyed; so that waits too,
/// and closes the gate.
class CompileGate {
public:
  /// What a thread does that finds the gate closed. LLVM may not even make an
  /// error then; so a thread stays where it is, unless it is the one that ends
  /// the process, which does not enter.
  enum class WhenClosed { Stay, Pass };

  explicit CompileGate(WhenClosed whenClosed = WhenClosed::Stay);
  ~CompileGate();
  CompileGate(const CompileGate &) = delete;
  CompileGate &operator=(const CompileGate &) = delete;

  /// False if the process is ending: LLVM may not be used.
  explicit operator bool() const { return entered; }

  /// To be called after each use of a context of MLIR on this thread: it may
  /// have made a new cache.
  static void watchThreadEnd();

  /// Registers the handlers of fork and exit. Idempotent. Called before the
  /// first compile, after LLVM is loaded.
  static void install();

private:
  bool entered;
};

} // namespace wok

#endif // WOK_LIB_COMPILER_COMPILEGATE_H
