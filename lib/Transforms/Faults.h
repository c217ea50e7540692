//===- Faults.h - Faults of what is not wholly computed ---------*- C++ -*-===//
//
// A captured program faults where an operation does, also if nobody reads the
// result, or only a part of it. Rewriting and fusion drop what is not read; a
// `wok.demand` keeps it.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_TRANSFORMS_FAULTS_H
#define WOK_LIB_TRANSFORMS_FAULTS_H

#include "wok/IR/WokOps.h"

namespace wok {

/// Demands the result of every operation that can fault.
void demandFaults(SubgraphOp subgraph);

/// Afterwards results are demanded of those operations only that can fault and
/// are not wholly computed for the sake of what the subgraph returns.
void dropNeedlessDemands(SubgraphOp subgraph);

} // namespace wok

#endif // WOK_LIB_TRANSFORMS_FAULTS_H
