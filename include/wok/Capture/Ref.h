//===- Ref.h - Owned and borrowed references --------------------*- C++ -*-===//
//
// Every Python object that Wok holds is held by a `Ref` or named by a
// `BorrowedRef`: who owns what stands in the type. Both are one pointer wide.
// All members need the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_CAPTURE_REF_H
#define WOK_CAPTURE_REF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

namespace wok::capture {

/// A pointer to an object that somebody else keeps alive. May be null.
template <class T = PyObject>
class BorrowedRef {
public:
  BorrowedRef() = default;
  BorrowedRef(std::nullptr_t) {}
  BorrowedRef(T *object) : object(object) {}
  /// From a concrete object to `PyObject`, as in C.
  template <class U>
    requires(!std::is_same_v<T, U> && std::is_same_v<T, PyObject>)
  BorrowedRef(U *object) : object(reinterpret_cast<PyObject *>(object)) {}

  T *get() const { return object; }
  T *operator->() const { return object; }
  operator T *() const { return object; }
  explicit operator bool() const { return object != nullptr; }

  PyObject *pyObject() const { return reinterpret_cast<PyObject *>(object); }
  PyTypeObject *type() const { return Py_TYPE(pyObject()); }

private:
  T *object = nullptr;
};

/// A reference that is owned: dropped when the `Ref` is. May be null.
///
/// Made by `steal` (takes over a new reference, as most of the C API returns
/// one) or `share` (adds a reference of its own); there is no constructor from
/// a bare pointer, which would not say which.
template <class T = PyObject>
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref(const Ref &other) : object(other.object) { Py_XINCREF(pyObject()); }
  ~Ref() { Py_XDECREF(pyObject()); }

  /// By value: the old object is dropped last, when `*this` already holds the
  /// new one (its finalizer may look).
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }

  /// Takes over the caller's reference.
  static Ref steal(T *object) {
    Ref ref;
    ref.object = object;
    return ref;
  }
  /// As above, for an API that returns `PyObject *`.
  static Ref steal(PyObject *object)
    requires(!std::is_same_v<T, PyObject>)
  {
    return steal(reinterpret_cast<T *>(object));
  }
  /// Adds a reference.
  static Ref share(BorrowedRef<T> object) {
    Py_XINCREF(object.pyObject());
    return steal(object.get());
  }

  T *get() const { return object; }
  T *operator->() const { return object; }
  operator T *() const & { return object; }
  operator BorrowedRef<T>() const & { return object; }
  explicit operator bool() const { return object != nullptr; }

  PyObject *pyObject() const { return reinterpret_cast<PyObject *>(object); }
  PyTypeObject *type() const { return Py_TYPE(pyObject()); }

  /// Gives the reference to the caller.
  [[nodiscard]] T *release() { return std::exchange(object, nullptr); }
  /// Gives the reference to the caller as `PyObject *`: what a C function
  /// returns.
  [[nodiscard]] PyObject *releaseObject() {
    return reinterpret_cast<PyObject *>(release());
  }
  /// Gives up the pointer without dropping the reference: when the object
  /// outlives the interpreter's use of it (at exit).
  void leak() { object = nullptr; }

private:
  T *object = nullptr;
};

/// The exception of the thread, set aside while the holder lives: for work that
/// must neither see nor lose it.
class PendingException {
public:
  PendingException() { PyErr_Fetch(&type, &value, &traceback); }
  ~PendingException() { PyErr_Restore(type, value, traceback); }
  PendingException(const PendingException &) = delete;
  PendingException &operator=(const PendingException &) = delete;

private:
  PyObject *type, *value, *traceback;
};

} // namespace wok::capture

template <class T>
struct std::hash<wok::capture::Ref<T>> {
  size_t operator()(const wok::capture::Ref<T> &ref) const {
    return std::hash<T *>()(ref.get());
  }
};

#endif // WOK_CAPTURE_REF_H
