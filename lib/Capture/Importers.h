//===- Importers.h - The importers that the tables name ---------*- C++ -*-===//

#ifndef WOK_LIB_CAPTURE_IMPORTERS_H
#define WOK_LIB_CAPTURE_IMPORTERS_H

#include "Call.h"

namespace wok::capture {

#define WOK_CALLABLE(names, signature, importer, detail, isOperation)          \
  std::optional<Value> importer(Call &call);
#include "Builtins.def"
#include "Numpy.def"
#include "Torch.def"
#undef WOK_CALLABLE

/// Whether argument `i` is absent or names the CPU.
bool isDefaultDevice(Call &call, unsigned i);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_IMPORTERS_H
