//===- Dims.h - Dimensions that a call names --------------------*- C++ -*-===//
//
// Python's way of naming dimensions, which both libraries share: negative ones
// count from the end, and a rank of 0 is taken as 1.
//
//===----------------------------------------------------------------------===//

#ifndef WOK_LIB_CAPTURE_DIMS_H
#define WOK_LIB_CAPTURE_DIMS_H

#include "Call.h"

#include <cstdint>
#include <span>
#include <vector>

namespace wok::capture {

/// Wraps a dimension; false, with a break, if it is out of range.
bool wrapDim(Call &call, int64_t &dim, size_t rank);

/// Wraps dimensions; false, with a break, if one is out of range or comes
/// twice.
bool wrapDims(Call &call, std::span<int64_t> dims, size_t rank);

/// The dimensions of a reduction: argument `i` (ints, an int, or None for all).
/// A rank-0 operand has none, whatever was asked.
bool reductionDims(Call &call, unsigned i, size_t rank,
                   std::vector<int64_t> &dims);

/// Whether one of `dims` is known to be empty.
bool isAnyEmpty(Call &call, Emitter::V v, std::span<const int64_t> dims);

} // namespace wok::capture

#endif // WOK_LIB_CAPTURE_DIMS_H
