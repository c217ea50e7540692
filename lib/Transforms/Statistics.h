//===- Statistics.h - Statistics as LLVM has them ---------------*- C++ -*-===//
//
// Included in front of every file of this library. The statistics of passes are
// made by MLIR's archives, and look otherwise where assertions are on. LLVM was
// built without: so they are declared, whatever the assertions of Wok are.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_TRANSFORMS_STATISTICS_H
#define WOK_LIB_TRANSFORMS_STATISTICS_H

#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif

#endif // WOK_LIB_TRANSFORMS_STATISTICS_H
