//===- Guard.cpp - What a capture assumed ---------------------------------===//

#include "wok/Capture/Guard.h"

#include <algorithm>
#include <unordered_set>

namespace wok::capture {

/// How much a guard says about the object at its source; 0 for those that are
/// compared only with their equals.
static int strength(Predicate predicate) {
  switch (predicate) {
  case Predicate::Is:
    return 4;
  case Predicate::Equals:
    return 3;
  case Predicate::IntRange:
  case Predicate::FloatType:
    return 2;
  case Predicate::TypeIs:
    return 1;
  default:
    return 0;
  }
}

static bool sameGuard(const Guard &a, const Guard &b) {
  return a.predicate == b.predicate && a.number == b.number &&
         a.upper == b.upper && a.object == b.object;
}

/// Appends only, so that a checkpoint is a length: what a later guard makes
/// redundant stays until `finish`.
void GuardList::add(const Guard &guard) {
  int force = strength(guard.predicate);
  std::vector<uint32_t> &known = bySource[guard.source];
  std::erase_if(known, [&](uint32_t index) {
    return index >= guards.size() || guards[index].source != guard.source;
  });
  for (uint32_t index : known) {
    const Guard &other = guards[index];
    if (sameGuard(other, guard))
      return;
    if (force && strength(other.predicate) > force)
      return;
    if (guard.predicate == Predicate::TypeIs &&
        other.predicate == Predicate::Tensor)
      return;
  }
  known.push_back(static_cast<uint32_t>(guards.size()));
  guards.push_back(guard);
}

void GuardList::finish(const SourceTable &sources) {
  // Drop what a stronger guard of the same source says too: a tensor's guard
  // says its type.
  std::unordered_map<SourceId, int> strongest;
  std::unordered_set<SourceId> present; // Whatever guard it is says so.
  for (const Guard &guard : guards) {
    int &force = strongest[guard.source];
    force = std::max(force, guard.predicate == Predicate::Tensor
                                ? 2
                                : strength(guard.predicate));
    if (guard.predicate != Predicate::Present &&
        guard.predicate != Predicate::SlotNull)
      present.insert(guard.source);
  }
  std::vector<Guard> kept;
  for (const Guard &guard : guards) {
    if (guard.predicate == Predicate::Present && present.contains(guard.source))
      continue;
    int force = strength(guard.predicate);
    if (!force || force >= strongest[guard.source])
      kept.push_back(guard);
  }
  // Parents first, what compares two sources last: both have been walked by
  // then. Otherwise in the order in which capture asked.
  auto depth = [&](const Guard &guard) {
    if (guard.predicate == Predicate::SameObject ||
        guard.predicate == Predicate::NotSameObject ||
        guard.predicate == Predicate::NoOverlap ||
        guard.predicate == Predicate::ExtentRelation)
      return UINT32_MAX;
    uint32_t steps = 0;
    for (SourceId id = guard.source; id != noSource; id = sources[id].parent)
      ++steps;
    return steps;
  };
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (const Guard &guard : kept)
    order.push_back({depth(guard), static_cast<uint32_t>(order.size())});
  std::ranges::sort(order);
  guards.clear();
  for (auto [_, i] : order)
    guards.push_back(kept[i]);
}

} // namespace wok::capture
