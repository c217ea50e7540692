//===- OpenMP.h - libgomp, if the process has it ----------------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_OPENMP_H
#define WOK_LIB_RUNTIME_OPENMP_H

namespace wok::runtime {

/// The entry points of an OpenMP runtime that somebody else has loaded. Wok
/// links none.
class OpenMP {
public:
  /// Null if no OpenMP runtime was loaded when `find` looked last, and in a
  /// forked child: a team of libgomp does not survive a fork.
  static const OpenMP *loaded() noexcept;
  static void find() noexcept;

  int maxThreads() const noexcept { return getMaxThreads(); }
  bool inParallel() const noexcept { return getInParallel() != 0; }
  int threadNumber() const noexcept { return getThreadNum(); }
  /// Runs `body` once on each thread of a team of the default size.
  void parallel(void (*body)(void *), void *data) const noexcept {
    gompParallel(body, data, 0, 0);
  }

private:
  void (*gompParallel)(void (*)(void *), void *, unsigned threads,
                       unsigned flags);
  int (*getMaxThreads)();
  int (*getInParallel)();
  int (*getThreadNum)();
};

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_OPENMP_H
