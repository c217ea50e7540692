//===- Registry.h - The code objects that Wok watches -----------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_3_11_REGISTRY_H
#define WOK_LIB_PYTHON_3_11_REGISTRY_H

#include "Bytecode.h"
#include "Internals.h"
#include "TrapCode.h"
#include "wok/Capture/Ref.h"
#include "wok/Python/Host.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace wok::python {

/// Which offsets are armed beside those that the dispatcher asks for.
/// `WOK_ARM`.
struct ArmPolicy {
  enum class Mode : uint8_t {
    Auto,   ///< None.
    All,    ///< Every legal offset.
    Random, ///< About a fifth of them, chosen by `seed`, the offset and the
            ///< code's name.
  };
  Mode mode = Mode::Auto;
  uint64_t seed = 0;
};

/// What Wok knows of one code object. Counted: the registry holds it, and so
/// does every frame that runs on its trap code.
class WatchedCode {
public:
  void retain() { ++references; }
  void release();

  PyCodeObject *code() const { return original; }
  /// Null if the code cannot be watched: not made by CPython's compiler,
  /// without a RESUME.
  const Bytecode *bytecode() const { return decoded.get(); }
  CodeSites *sites() const { return dispatch.get(); }
  const std::vector<int32_t> &armedOffsets() const { return armed; }

  /// The trap code to run a new frame on; null if there are no sites.
  TrapCode *trapCode() {
    if (!dispatching) [[unlikely]]
      startDispatching();
    if (!trap && !armed.empty())
      makeTrapCode();
    return trap;
  }
  void arm(const std::vector<int32_t> &offsets);
  void disarm(const std::vector<int32_t> &offsets);

  /// If frames run on the trap code, they go on as on the original, and later
  /// frames get a new copy.
  void retireFlying();

  /// Whether arrivals go to the dispatcher. Not before a tensor library is
  /// imported: until then there is nothing to capture, and a capture that looks
  /// for it costs time.
  bool isDispatching() const { return dispatching; }

  /// Set by `wok.disable`: nothing under a frame of this code is watched.
  bool disabled = false;
  JitOptions options;

private:
  friend class Registry;
  ~WatchedCode();
  void startDispatching();
  void makeTrapCode();
  void dropTrapCode();

  PyCodeObject *original = nullptr; ///< Borrowed; null once it died.
  std::shared_ptr<const Bytecode> decoded;
  CodeSitesPtr dispatch;
  std::vector<int32_t> armed; ///< Sorted.
  TrapCode *trap = nullptr;
  uint32_t references = 1;
  bool dispatching = false;
};

/// All watched code objects, by weak reference. Needs the GIL.
class Registry {
public:
  static Registry &get();

  /// What is known of `code`; null if it is not watched.
  WatchedCode *find(PyCodeObject *code) {
    Slot &slot = recent[hash(code)];
    if (slot.code == code)
      return slot.watched;
    return findSlowly(code);
  }
  /// As `find`, and starts watching. Null, and no exception, if there is no
  /// memory for it.
  WatchedCode *watch(PyCodeObject *code) {
    if (WatchedCode *watched = find(code))
      return watched;
    return add(code, JitOptions());
  }
  /// Starts watching with `options`; what was known under other options is
  /// forgotten.
  WatchedCode *watch(PyCodeObject *code, const JitOptions &options);

  /// Forgets everything; only what `wok.disable` marked stays.
  void clear();

  /// `sys.settrace` or `sys.setprofile` is called on some thread.
  void retireFlying();

  /// Rises when a pointer from `find` or `watch` may have become stale.
  uint64_t generation() const { return epoch; }

  ArmPolicy policy;

private:
  struct Slot {
    PyCodeObject *code = nullptr;
    WatchedCode *watched = nullptr;
  };
  struct Entry {
    WatchedCode *watched;
    capture::Ref<> weak;
  };

  static size_t hash(PyCodeObject *code) {
    return (reinterpret_cast<uintptr_t>(code) >> 5) % recentSize;
  }
  WatchedCode *findSlowly(PyCodeObject *code);
  WatchedCode *add(PyCodeObject *code, const JitOptions &options);
  void forget(PyCodeObject *code);
  static PyObject *codeDied(PyObject *self, PyObject *weak);

  static constexpr size_t recentSize = 512;
  std::array<Slot, recentSize> recent;
  std::unordered_map<PyCodeObject *, Entry> entries;
  std::unordered_map<PyObject *, PyCodeObject *> byWeakReference;
  capture::Ref<> callback;
  uint64_t epoch = 1;
};

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_REGISTRY_H
