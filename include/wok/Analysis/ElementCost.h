//===- ElementCost.h - What one element takes -------------------*- C++ -*-===//

#ifndef WOK_ANALYSIS_ELEMENTCOST_H
#define WOK_ANALYSIS_ELEMENTCOST_H

#include <cstdint>

namespace mlir {
class Operation;
} // namespace mlir

namespace wok {

/// What one element of an elementwise operation costs, in additions. What else
/// an operation does, movement and reduction, is not counted: 0.
uint32_t elementCost(mlir::Operation *op);

/// From here on an operation takes tens of instructions: it is not computed
/// twice if that can be helped.
inline constexpr uint32_t heavyElement = 16;

} // namespace wok

#endif // WOK_ANALYSIS_ELEMENTCOST_H
