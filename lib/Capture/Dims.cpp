//===- Dims.cpp - Dimensions that a call names ------------------*- C++ -*-===//

#include "Dims.h"

#include <algorithm>

using namespace wok;
using namespace wok::capture;

bool capture::wrapDim(Call &call, int64_t &dim, size_t rank) {
  int64_t limit = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -limit || dim >= limit) {
    call.capture.breakHere(BreakInfo::Reason::WouldRaise, call.bound.name);
    return false;
  }
  if (dim < 0)
    dim += limit;
  return true;
}

bool capture::wrapDims(Call &call, std::span<int64_t> dims, size_t rank) {
  for (int64_t &dim : dims)
    if (!wrapDim(call, dim, rank))
      return false;
  std::vector<int64_t> sorted(dims.begin(), dims.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) == sorted.end())
    return true;
  call.capture.breakHere(BreakInfo::Reason::WouldRaise, call.bound.name);
  return false;
}

bool capture::reductionDims(Call &call, unsigned i, size_t rank,
                            std::vector<int64_t> &dims) {
  if (call.has(i) && !call.integerItems(i, dims))
    return false;
  if (!wrapDims(call, dims, rank))
    return false;
  // No dimensions mean all of them.
  if (dims.empty())
    dims = allDims(rank);
  if (rank == 0)
    dims.clear();
  return true;
}

bool capture::isAnyEmpty(Call &call, Emitter::V v,
                         std::span<const int64_t> dims) {
  return std::ranges::any_of(dims, [&](int64_t dim) {
    return call.capture.graph.constantValue(call.emitter.extent(v, dim)) == 0;
  });
}
