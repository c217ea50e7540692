//===- ArenaLayouts.cpp ---------------------------------------------------===//

#include "wok/Runtime/ArenaLayouts.h"

#include <algorithm>
#include <cassert>

using namespace wok;
using namespace wok::runtime;

const ArenaLayouts::Entry *
ArenaLayouts::findIn(const List *list, std::span<const int64_t> bytes) {
  if (list)
    for (const std::shared_ptr<const Entry> &entry : *list)
      if (std::ranges::equal(entry->bytes, bytes))
        return entry.get();
  return nullptr;
}

const ArenaLayout &ArenaLayouts::find(std::span<const ArenaRequest> transients,
                                      std::span<const int64_t> bytes) {
  assert(transients.size() == bytes.size());
  if (const Entry *entry = findIn(published.read(), bytes)) [[likely]]
    return entry->layout;

  std::lock_guard lock(writing);
  const List *old = published.read();
  if (const Entry *entry = findIn(old, bytes))
    return entry->layout;
  std::vector<ArenaRequest> requests(transients.begin(), transients.end());
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].bytes = bytes[i];
  auto entry = std::make_shared<Entry>();
  entry->bytes.assign(bytes.begin(), bytes.end());
  entry->layout = packArena(requests, arenaAlignment);

  // Newest first: a shape that came once often comes again at once.
  auto list = std::make_shared<List>();
  list->push_back(entry);
  if (old && old->size() < limit)
    list->insert(list->end(), old->begin(), old->end());
  published.publish(std::move(list));
  return entry->layout;
}
