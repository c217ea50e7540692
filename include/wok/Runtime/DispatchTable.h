//===- DispatchTable.h - The sites of a program -----------------*- C++ -*-===//

#ifndef WOK_RUNTIME_DISPATCHTABLE_H
#define WOK_RUNTIME_DISPATCHTABLE_H

#include "wok/Runtime/Site.h"

#include <map>
#include <memory>
#include <mutex>

namespace wok::runtime {

/// Finds the site of a place: a bytecode offset, an operation. Sites stay where
/// they are until the table dies. Looking takes no lock; a new place takes one.
template <class M, class Place>
class DispatchTable {
public:
  /// The site of `place`, or null if it has none.
  Site<M> *find(const Place &place) const noexcept {
    ReadScope scope;
    const Index *index = published.read();
    if (!index)
      return nullptr;
    auto found = index->find(place);
    return found == index->end() ? nullptr : found->second.get();
  }

  /// The site of `place`, made if it has none.
  Site<M> &at(const Place &place) {
    if (Site<M> *site = find(place))
      return *site;
    std::lock_guard lock(writing);
    auto index = std::make_shared<Index>();
    if (const Index *old = published.read())
      *index = *old;
    std::shared_ptr<Site<M>> &site = (*index)[place];
    if (!site)
      site = std::make_shared<Site<M>>();
    Site<M> &result = *site;
    published.publish(std::move(index));
    return result;
  }

  /// Calls `visit(const Place &, Site<M> &)` for each, in the order of places.
  template <class Visitor>
  void forEach(Visitor visit) const {
    ReadScope scope;
    if (const Index *index = published.read())
      for (auto &[place, site] : *index)
        visit(place, *site);
  }

  /// Forgets all specializations and budgets; sites stay.
  void clear() {
    forEach([](const Place &, Site<M> &site) {
      site.clear();
      site.budget.reset();
    });
  }

private:
  using Index = std::map<Place, std::shared_ptr<Site<M>>>;
  Published<Index> published;
  std::mutex writing;
};

} // namespace wok::runtime

#endif // WOK_RUNTIME_DISPATCHTABLE_H
