//===- Origin.h - Who wrote a function --------------------------*- C++ -*-===//

#ifndef WOK_LIB_CAPTURE_ORIGIN_H
#define WOK_LIB_CAPTURE_ORIGIN_H

#include "wok/Capture/Ref.h"

#include <string_view>

namespace wok::capture {

/// Whether `callable`, if it is a function of Python, was written in `package`
/// or a module of it: a program may have put its own under the library's name.
/// Sets no exception.
bool isWrittenIn(std::string_view package, PyObject *callable);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_ORIGIN_H
