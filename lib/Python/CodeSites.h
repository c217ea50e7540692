//===- CodeSites.h - The sites of one code object ---------------*- C++ -*-===//

#ifndef WOK_LIB_PYTHON_CODESITES_H
#define WOK_LIB_PYTHON_CODESITES_H

#include "FrameModel.h"

#include <map>
#include <memory>

namespace wok::python {

/// One site: its specializations, what captures remember, and how much room a
/// lookup needs.
struct SiteState {
  Site site;
  capture::SiteHistory history;
  uint32_t tensors = 0, symbols = 0;
  uint32_t fruitless = 0; ///< Captures that found nothing to compile.
  bool returns = false;   ///< A specialization's exit is the function's return.
};

/// All members need the GIL.
class CodeSites {
public:
  CodeSites(PyCodeObject *code, const JitOptions &options);
  ~CodeSites();

  SiteState *find(int32_t offset) {
    auto found = sites.find(offset);
    return found == sites.end() ? nullptr : found->second.get();
  }
  /// Makes a site if there is none.
  SiteState &add(int32_t offset);
  /// Forgets all specializations; sites stay.
  void clear();
  /// Takes out the specializations of a site whose guards name objects that
  /// died.
  void dropDead(SiteState &state);

  JitOptions options;
  /// Behind the first RESUME; -1 if the code is not worth watching.
  int32_t entry = -1;
  SiteState *entryState = nullptr;
  /// Whether a call can be answered without a frame, as far as the code says.
  bool framelessCode = false;

private:
  std::map<int32_t, std::unique_ptr<SiteState>> sites;
};

/// What `tryFrameless` of this thread ran last, if the run was given up.
extern thread_local const Specialization *refusedWithoutFrame;

/// Finds tensor libraries that the process has imported since the last call,
/// and what they bring: their thread pool, their matrix products.
void noteLibraries();

} // namespace wok::python

#endif // WOK_LIB_PYTHON_CODESITES_H
