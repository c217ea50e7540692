//===- LoadedLibraries.h - Shared libraries of the process ------*- C++ -*-===//

#ifndef WOK_LIB_RUNTIME_LOADEDLIBRARIES_H
#define WOK_LIB_RUNTIME_LOADEDLIBRARIES_H

namespace wok::runtime {

/// A handle for `dlsym` of a library that the process has loaded already,
/// privately or not, whose file name contains `part`; null if there is none.
/// Keeps the library loaded; loads nothing.
void *findLoadedLibrary(const char *part) noexcept;

} // namespace wok::runtime

#endif // WOK_LIB_RUNTIME_LOADEDLIBRARIES_H
