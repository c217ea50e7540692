//===- ElementCost.cpp - What one element takes ---------------------------===//

#include "wok/Analysis/ElementCost.h"

#include "wok/IR/WokOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wok;

uint32_t wok::elementCost(Operation *op) {
  return llvm::TypeSwitch<Operation *, uint32_t>(op)
      .Case<DivOp, SqrtOp>([](auto) { return 6; })
      .Case<RsqrtOp>([](auto) { return 12; })
      .Case<ExpOp, Exp2Op, Expm1Op, LogOp, Log2Op, Log10Op, Log1pOp, TanhOp,
            SigmoidOp, ErfOp, SinOp, CosOp, TanOp, FloorDivOp, RemainderOp,
            FmodOp>([](auto) { return heavyElement; })
      .Case<PowOp>([](auto) { return 4 * heavyElement; })
      .Default([](Operation *other) {
        return isa<ElementwiseOpInterface>(other) ? 1 : 0;
      });
}
