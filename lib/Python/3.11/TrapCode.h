//===- TrapCode.h - A code object whose sites are traps ---------*- C++ -*-===//
//
// A watched code object gets one copy in which the first code unit of each site
// is a RETURN_VALUE. A frame that runs on the copy comes back to the frame
// evaluator at a site with its true state. CPython executes everything else, so
// a trap that is missed costs an optimisation and never correctness.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_PYTHON_3_11_TRAPCODE_H
#define WOK_LIB_PYTHON_3_11_TRAPCODE_H

#include "Bytecode.h"
#include "Internals.h"
#include "wok/Capture/Ref.h"

#include <memory>
#include <vector>

namespace wok::python {

/// The copy, and which of its units are traps. Needs the GIL. Shared by the
/// registry and the frames that run on it; counted, because either may be the
/// last.
class TrapCode {
public:
  /// A copy of `original` without traps. Null, and no exception, if it cannot
  /// be copied.
  static TrapCode *create(PyCodeObject *original,
                          std::shared_ptr<const Bytecode> bytecode);

  void retain() { ++references; }
  void release() {
    if (--references == 0)
      delete this;
  }

  PyCodeObject *copy() const { return object; }
  _Py_CODEUNIT *units() const { return _PyCode_CODE(object.get()); }
  const Bytecode &bytecode() const { return *decoded; }
  /// What stands at `offset` in the original: any unit of an instruction but
  /// its caches.
  Op pristineOp(int32_t offset) const {
    return static_cast<Op>(pristine[offset]);
  }

  /// Makes `offset` a site; it stays one until it is removed. Offsets where no
  /// trap may be are ignored.
  void addSite(int32_t offset);
  void removeSite(int32_t offset);
  bool isSite(int32_t offset) const { return state[offset] & Site; }
  bool isArmed(int32_t offset) const { return state[offset] & Armed; }

  /// The argument of the trapped unit at `offset` (without EXTENDED_ARGs).
  uint32_t trappedArg(int32_t offset) const {
    return _Py_OPARG(units()[offset]);
  }

  /// Lets the instruction at the site `offset` execute once, as a debugger
  /// steps over a breakpoint: its unit is restored and its successors are
  /// trapped, until the next `settle`.
  void passOver(int32_t offset);

  /// Ends a `passOver`: every site is armed again and every other trap is gone.
  /// Called at each stop and at each entry; cheap if there is nothing to do.
  void settle() {
    if (!passed.empty() || !temporary.empty())
      settleSlowly();
  }

  /// Restores all units for good: frames in flight go on as on the original.
  void retire();
  bool isRetired() const { return retired; }

  /// Frames that run on the copy now.
  uint32_t frames = 0;

  /// The original of a copy that lives; null if `code` is none.
  static PyCodeObject *originalOf(PyCodeObject *code);

private:
  enum State : uint8_t { Armed = 1, Site = 2 };

  TrapCode() = default;
  ~TrapCode();
  void arm(int32_t offset);
  void disarm(int32_t offset);
  void settleSlowly();
  /// The first offset at or behind `offset`, in straight line, where a trap may
  /// be; -1 if none.
  int32_t firstLegal(int32_t offset) const;

  capture::Ref<PyCodeObject> object;
  std::shared_ptr<const Bytecode> decoded;
  std::vector<uint8_t> pristine;  ///< Opcode of each unit.
  std::vector<uint8_t> state;     ///< Of each unit.
  std::vector<int32_t> passed;    ///< Sites that `passOver` restored.
  std::vector<int32_t> temporary; ///< Traps that `passOver` set.
  uint32_t references = 1;
  bool retired = false;
};

} // namespace wok::python

#endif // WOK_LIB_PYTHON_3_11_TRAPCODE_H
