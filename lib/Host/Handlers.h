//===- Handlers.h - The breaks that every host knows ------------*- C++ -*-===//

#ifndef WOK_LIB_HOST_HANDLERS_H
#define WOK_LIB_HOST_HANDLERS_H

#include "wok/Host/FrameHost.h"

namespace wok::host {

/// Adds `print`, `append`, `branch` and `call`.
void addStandardHandlers(FrameHost &host);

} // namespace wok::host

#endif // WOK_LIB_HOST_HANDLERS_H
