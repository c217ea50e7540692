//===- Site.h - The specializations of one place ----------------*- C++ -*-===//

#ifndef WOK_RUNTIME_SITE_H
#define WOK_RUNTIME_SITE_H

#include "wok/Runtime/CaptureBudget.h"
#include "wok/Runtime/Events.h"
#include "wok/Runtime/ReadScope.h"
#include "wok/Runtime/Specialization.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace wok::runtime {

/// One lookup and the run that follows it: keeps the specialization, its code
/// and the guards' registers alive. Lives on the stack of the thread that
/// looks.
template <class M>
class Lookup {
public:
  using Register = typename M::Register;

  /// Valid after `Site::find`: what the guard program of the found
  /// specialization loaded.
  Register *registers() { return large ? large.get() : small; }

  /// After a miss: for each specialization, in the order in which they were
  /// tried, which guard failed. No more than the first few are kept.
  struct Failure {
    const Specialization<M> *specialization;
    uint32_t guard;
  };
  const Failure *begin() const { return failures; }
  const Failure *end() const { return failures + failureCount; }

private:
  template <class>
  friend class Site;
  void reserve(size_t count) {
    if (count > smallCount) [[unlikely]]
      large = std::make_unique_for_overwrite<Register[]>(count);
  }

  static constexpr size_t smallCount = 64, maxFailures = 8;
  ReadScope scope;
  uint32_t failureCount = 0;
  Failure failures[maxFailures];
  Register small[smallCount];
  std::unique_ptr<Register[]> large;
};

/// The specializations of one site, most useful first, and whether to capture
/// more.
///
/// `find` runs guard programs only: it calls no program code, takes no lock,
/// and does not throw. Writers are serialised; a reader sees the list as it was
/// when it looked. Guard programs of specializations that begin with the same
/// records share these: they run once for all. A program writes each of its
/// registers once.
template <class M>
class Site {
public:
  using Entry = Specialization<M>;

  /// The first specialization whose guards hold, or null on a miss.
  const Entry *find(M &model, Lookup<M> &lookup) noexcept;

  /// Adds a specialization, as the first to be tried. Where the budget's limit
  /// is reached, the least useful one goes.
  void insert(std::shared_ptr<const Entry> entry);

  /// Takes a specialization out. Runs that have it go on. False if it is not
  /// here.
  bool erase(const Entry *entry);
  void clear();

  /// Calls `visit(const Entry &)` for each, most useful first.
  template <class Visitor>
  void forEach(Visitor visit) const {
    ReadScope scope;
    if (const List *list = published.read())
      for (const Item &item : list->items)
        visit(*item.entry);
  }
  size_t size() const {
    ReadScope scope;
    const List *list = published.read();
    return list ? list->items.size() : 0;
  }

  /// Where it is, for reports: "file.py:12".
  std::string name;
  /// Whether to capture here. Its `limit` is that of entries.
  CaptureBudget budget;

private:
  struct Item {
    std::shared_ptr<const Entry> entry;
    /// Records at the beginning that are those of the item before.
    uint32_t shared = 0;
  };
  struct List {
    std::vector<Item> items;
    size_t registers = 0;
  };

  const Entry *missed(const Lookup<M> &lookup) const noexcept;
  void publish(std::vector<std::shared_ptr<const Entry>> entries);
  std::vector<std::shared_ptr<const Entry>> entries() const;
  void reorder() noexcept;

  Published<List> published;
  std::mutex writing;
};

template <class M>
const Specialization<M> *Site<M>::find(M &model, Lookup<M> &lookup) noexcept {
  static_assert(ObjectModel<M>);
  lookup.failureCount = 0;
  const List *list = published.read();
  if (!list)
    return missed(lookup);
  lookup.reserve(list->registers);
  typename M::Register *registers = lookup.registers();

  uint32_t held = 0; // Records of the item before that hold.
  for (const Item &item : list->items) {
    const Entry &entry = *item.entry;
    const std::vector<GuardRecord> &records = entry.guards.records;
    // What failed in the common part fails here too; what held need not run
    // again.
    uint32_t index = std::min(item.shared, held);
    if (item.shared <= held)
      while (index < records.size() && model.step(records[index], registers))
        ++index;
    if (index == records.size()) [[likely]] {
      uint64_t hits = entry.hits.load(std::memory_order_relaxed) + 1;
      entry.hits.store(hits, std::memory_order_relaxed);
      count(Counter::Hits);
      if (EventStream::listening()) [[unlikely]]
        EventStream::emit(
            {.kind = Event::Kind::Hit, .where = name, .number = entry.number});
      // At every power of two: seldom, and soon after it became useful.
      if (&item != list->items.data() && (hits & (hits - 1)) == 0) [[unlikely]]
        reorder();
      return &entry;
    }
    held = index;
    if (lookup.failureCount < Lookup<M>::maxFailures)
      lookup.failures[lookup.failureCount++] = {&entry, index};
  }
  return missed(lookup);
}

template <class M>
const Specialization<M> *
Site<M>::missed(const Lookup<M> &lookup) const noexcept {
  count(Counter::Misses);
  if (EventStream::listening()) [[unlikely]] {
    // The guard of the entry that should have fitted best.
    Event event{.kind = Event::Kind::Missed, .where = name};
    if (lookup.failureCount) {
      event.number = lookup.failures[0].specialization->number;
      event.guard = lookup.failures[0].guard;
      const auto &texts = lookup.failures[0].specialization->guards.texts;
      if (event.guard < texts.size())
        event.text = texts[event.guard];
    }
    EventStream::emit(event);
  }
  return nullptr;
}

template <class M>
std::vector<std::shared_ptr<const Specialization<M>>> Site<M>::entries() const {
  std::vector<std::shared_ptr<const Entry>> result;
  if (const List *list = published.read())
    for (const Item &item : list->items)
      result.push_back(item.entry);
  return result;
}

template <class M>
void Site<M>::publish(std::vector<std::shared_ptr<const Entry>> entries) {
  if (entries.empty())
    return published.publish(nullptr);
  auto list = std::make_shared<List>();
  for (std::shared_ptr<const Entry> &entry : entries) {
    uint32_t shared = 0;
    if (!list->items.empty()) {
      const auto &a = list->items.back().entry->guards.records,
                 &b = entry->guards.records;
      shared = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
               a.begin();
    }
    list->registers =
        std::max<size_t>(list->registers, entry->guards.registers);
    list->items.push_back({std::move(entry), shared});
  }
  published.publish(std::move(list));
}

template <class M>
void Site<M>::insert(std::shared_ptr<const Entry> entry) {
  count(Counter::Subgraphs);
  std::unique_lock lock(writing);
  auto list = entries();
  if (list.size() >= budget.limit) {
    auto least =
        std::min_element(list.begin(), list.end(), [](auto &a, auto &b) {
          return a->hits.load(std::memory_order_relaxed) <
                 b->hits.load(std::memory_order_relaxed);
        });
    list.erase(least);
  }
  list.insert(list.begin(), std::move(entry));
  publish(std::move(list));
  list.clear();
  lock.unlock();
  collectRetired();
}

template <class M>
bool Site<M>::erase(const Entry *entry) {
  std::unique_lock lock(writing);
  auto list = entries();
  if (!std::erase_if(list, [&](auto &other) { return other.get() == entry; }))
    return false;
  publish(std::move(list));
  lock.unlock();
  collectRetired();
  return true;
}

template <class M>
void Site<M>::clear() {
  std::unique_lock lock(writing);
  publish({});
  lock.unlock();
  collectRetired();
}

template <class M>
void Site<M>::reorder() noexcept try {
  // Another writer is as good, and a reader does not wait.
  std::unique_lock lock(writing, std::try_to_lock);
  if (!lock)
    return;
  auto list = entries();
  // Counters move while they are compared: look once.
  std::vector<std::pair<uint64_t, std::shared_ptr<const Entry>>> byHits;
  for (auto &entry : list)
    byHits.emplace_back(entry->hits.load(std::memory_order_relaxed), entry);
  // Insertion sort: stable, and lists are short.
  bool changed = false;
  for (size_t i = 1; i < byHits.size(); ++i)
    for (size_t j = i; j && byHits[j].first > byHits[j - 1].first; --j) {
      std::swap(byHits[j], byHits[j - 1]);
      changed = true;
    }
  if (!changed)
    return;
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = std::move(byHits[i].second);
  publish(std::move(list));
} catch (const std::bad_alloc &) {
  // The old order serves on.
}

} // namespace wok::runtime

#endif // WOK_RUNTIME_SITE_H
