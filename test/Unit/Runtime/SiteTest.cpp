//===- SiteTest.cpp - Dispatch over guards --------------------------------===//

#include "ModelHost.h"
#include "wok/Runtime/DispatchTable.h"
#include "gtest/gtest.h"

#include <thread>

using namespace wok;
using namespace wok::runtime;
using namespace wok::runtime::test;

namespace {

using Entry = Specialization<Model>;

std::shared_ptr<Entry>
entry(GuardProgram guards,
      std::shared_ptr<const CompiledSubgraph> subgraph = nullptr) {
  return std::make_shared<Entry>(std::move(guards), std::move(subgraph),
                                 Model::Exit());
}

uint64_t counter(Counter which) {
  return readCounters()[static_cast<size_t>(which)];
}

TEST(Site, MissesWhenEmptyAndTellsWhichGuardFailed) {
  Site<Model> site;
  std::vector<Local> frame{{7, {}}};
  Model model(frame);
  resetCounters();
  {
    Lookup<Model> lookup;
    EXPECT_EQ(site.find(model, lookup), nullptr);
    EXPECT_EQ(lookup.begin(), lookup.end());
  }
  auto first = entry(hasTag(0, 7)), second = entry(hasTag(0, 8)),
       third = entry(hasTag(3, 1));
  for (auto &e : {first, second, third})
    site.insert(e);
  {
    Lookup<Model> lookup;
    EXPECT_EQ(site.find(model, lookup), first.get());
    EXPECT_EQ(lookup.registers()[0], &frame[0]);
  }
  frame[0].tag = 9;
  Lookup<Model> lookup;
  EXPECT_EQ(site.find(model, lookup), nullptr);
  std::vector<uint32_t> failed;
  for (const auto &failure : lookup)
    failed.push_back(failure.guard);
  // The one that was hit is tried first now.
  EXPECT_EQ(failed, (std::vector<uint32_t>{1, 0, 1}));
  EXPECT_EQ(counter(Counter::Hits), 1u);
  EXPECT_EQ(counter(Counter::Misses), 2u);
  EXPECT_EQ(counter(Counter::Subgraphs), 3u);
  EXPECT_EQ(first->hits, 1u);
}

TEST(Site, CommonPrefixRunsOnce) {
  Site<Model> site;
  std::vector<Local> frame{{4, {1, 2}}};
  auto program = [](uint64_t tag) {
    GuardProgram guards;
    guards.records = {{Model::Load, 0, 0, 0, 0},
                      {Model::HasSize, 0, 0, 0, 2},
                      {Model::HasTag, 0, 0, 0, tag}};
    guards.registers = 1;
    return guards;
  };
  for (uint64_t tag : {4, 3, 2, 1}) // The last inserted is tried first.
    site.insert(entry(program(tag)));
  Model model(frame);
  {
    Lookup<Model> lookup;
    EXPECT_NE(site.find(model, lookup), nullptr);
    EXPECT_EQ(model.steps, 2 + 4);
  }
  // What fails in the prefix fails for all.
  frame[0].values.push_back(3);
  model.steps = 0;
  Lookup<Model> lookup;
  EXPECT_EQ(site.find(model, lookup), nullptr);
  EXPECT_EQ(model.steps, 2);
  for (const auto &failure : lookup)
    EXPECT_EQ(failure.guard, 1u);
}

TEST(Site, AProgramThatIsAPrefixOfAnother) {
  Site<Model> site;
  std::vector<Local> frame{{4, {1, 2}}};
  GuardProgram shorter = hasTag(0, 4), longer = shorter;
  longer.records.push_back({Model::HasSize, 0, 0, 0, 2});
  auto general = entry(shorter), special = entry(longer);
  site.insert(general);
  site.insert(special);
  Model model(frame);
  {
    Lookup<Model> lookup;
    EXPECT_EQ(site.find(model, lookup), special.get());
  }
  frame[0].values.pop_back();
  model.steps = 0;
  Lookup<Model> lookup;
  EXPECT_EQ(site.find(model, lookup), general.get());
  EXPECT_EQ(model.steps, 3);
}

TEST(Site, MostUsefulFirst) {
  Site<Model> site;
  std::vector<Local> frame{{1, {}}};
  auto often = entry(hasTag(0, 1)), seldom = entry(hasTag(0, 2));
  site.insert(often);
  site.insert(seldom);
  Model model(frame);
  auto first = [&] {
    const Entry *result = nullptr;
    site.forEach([&](const Entry &e) { result = result ? result : &e; });
    return result;
  };
  EXPECT_EQ(first(), seldom.get());
  for (int i = 0; i < 4; ++i) {
    Lookup<Model> lookup;
    ASSERT_EQ(site.find(model, lookup), often.get());
  }
  EXPECT_EQ(first(), often.get());
  model.steps = 0;
  Lookup<Model> lookup;
  site.find(model, lookup);
  EXPECT_EQ(model.steps, 2);
}

TEST(Site, LimitDropsTheLeastUseful) {
  Site<Model> site;
  site.budget.limit = 2;
  std::vector<Local> frame{{0, {}}};
  Model model(frame);
  for (uint64_t tag : {0, 1}) {
    site.insert(entry(hasTag(0, tag)));
    frame[0].tag = static_cast<int64_t>(tag);
    for (uint64_t i = 0; i <= tag; ++i) {
      Lookup<Model> lookup;
      EXPECT_NE(site.find(model, lookup), nullptr);
    }
  }
  site.insert(entry(hasTag(0, 2)));
  EXPECT_EQ(site.size(), 2u);
  frame[0].tag = 0;
  Lookup<Model> lookup;
  EXPECT_EQ(site.find(model, lookup), nullptr);
}

TEST(Site, ManyRegisters) {
  Site<Model> site;
  std::vector<Local> frame(200);
  GuardProgram guards;
  for (uint16_t i = 0; i < 200; ++i) {
    frame[i].tag = i;
    guards.records.push_back({Model::Load, i, 0, 0, i});
  }
  for (uint16_t i = 0; i < 200; ++i)
    guards.records.push_back({Model::HasTag, 0, i, 0, i});
  guards.registers = 200;
  site.insert(entry(guards));
  Model model(frame);
  Lookup<Model> lookup;
  EXPECT_NE(site.find(model, lookup), nullptr);
  EXPECT_EQ(lookup.registers()[199], &frame[199]);
}

TEST(Site, ErasedEntriesLiveWhileALookupHasThem) {
  Site<Model> site;
  std::vector<Local> frame{{1, {}}};
  Model model(frame);
  auto kept = std::make_shared<int>(0);
  std::weak_ptr<int> watch = kept;
  auto made = std::make_shared<Entry>(hasTag(0, 1), nullptr,
                                      Model::Exit{.kept = std::move(kept)});
  const Entry *raw = made.get();
  site.insert(std::move(made));
  {
    Lookup<Model> lookup;
    ASSERT_EQ(site.find(model, lookup), raw);
    EXPECT_TRUE(site.erase(raw));
    EXPECT_FALSE(site.erase(raw));
    collectRetired();
    EXPECT_FALSE(watch.expired()) << "destroyed under a reader";
    Lookup<Model> nested;
    EXPECT_EQ(site.find(model, nested), nullptr);
  }
  collectRetired();
  EXPECT_TRUE(watch.expired());
}

TEST(ReadScope, PlainMemoryDoesNotPileUp) {
  collectRetired();
  std::vector<std::weak_ptr<int>> objects;
  for (int i = 0; i < 100; ++i) {
    auto object = std::make_shared<int>(i);
    objects.push_back(object);
    retirePlain(std::move(object));
  }
  auto alive = [&] {
    return std::count_if(objects.begin(), objects.end(),
                         [](auto &object) { return !object.expired(); });
  };
  EXPECT_LT(alive(), 20);
  collectRetired();
  EXPECT_EQ(alive(), 0);

  objects.clear();
  ReadScope scope;
  for (int i = 0; i < 100; ++i) {
    auto object = std::make_shared<int>(i);
    objects.push_back(object);
    retirePlain(std::move(object));
  }
  EXPECT_EQ(alive(), 100) << "this scope may see them";
}

TEST(DispatchTable, FindsSitesByPlace) {
  DispatchTable<Model, int> table;
  EXPECT_EQ(table.find(3), nullptr);
  Site<Model> &three = table.at(3), &one = table.at(1);
  EXPECT_NE(&three, &one);
  EXPECT_EQ(table.find(3), &three);
  EXPECT_EQ(&table.at(1), &one);
  three.insert(entry(hasTag(0, 1)));
  std::vector<int> places;
  table.forEach([&](int place, Site<Model> &) { places.push_back(place); });
  EXPECT_EQ(places, (std::vector<int>{1, 3}));
  table.clear();
  EXPECT_EQ(three.size(), 0u);
}

/// Readers look and run while a writer inserts and erases. The code of each
/// entry says whether it is still alive.
TEST(Site, ReadersAndWriters) {
  Site<Model> site;
  site.budget.limit = 100;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> ran{0};

  struct Code {
    std::atomic<int> alive{1};
    ~Code() { alive = 0; }
  };
  auto make = [](uint64_t tag) {
    auto exit = Model::Exit();
    exit.kept = std::make_shared<Code>();
    return std::make_shared<Entry>(hasTag(0, tag), nullptr, std::move(exit));
  };
  for (uint64_t tag = 0; tag < 4; ++tag)
    site.insert(make(tag));

  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&, t] {
      std::vector<Local> frame(1);
      Model model(frame);
      while (!done) {
        frame[0].tag = (frame[0].tag + t + 1) % 5;
        Lookup<Model> lookup;
        if (const Entry *found = site.find(model, lookup)) {
          ASSERT_EQ(static_cast<const Code *>(found->exit.kept.get())->alive,
                    1);
          ASSERT_EQ(found->guards.records[1].operand,
                    static_cast<uint64_t>(frame[0].tag));
          ++ran;
        }
      }
    });
  for (int round = 0; round < 500; ++round) {
    site.insert(make(round % 4));
    std::vector<const Entry *> entries;
    site.forEach([&](const Entry &e) { entries.push_back(&e); });
    if (entries.size() > 5)
      site.erase(entries[round % entries.size()]);
    if (round % 64 == 0)
      std::this_thread::yield();
  }
  while (ran < 100)
    std::this_thread::yield();
  done = true;
  for (std::thread &reader : readers)
    reader.join();
  site.clear();
  EXPECT_EQ(collectRetired(), 0u);
}

TEST(CaptureBudget, OneCaptureAtATime) {
  CaptureBudget budget;
  EXPECT_TRUE(budget.begin(0));
  EXPECT_FALSE(budget.begin(0)) << "a capture is in progress";
  budget.finish(CaptureBudget::Outcome::Compiled);
  EXPECT_EQ(budget.captures(), 1u);
  EXPECT_TRUE(budget.begin(1));
  budget.finish(CaptureBudget::Outcome::Compiled);
  EXPECT_FALSE(budget.begin(8)) << "the site is full";
}

TEST(CaptureBudget, LaterCapturesWait) {
  CaptureBudget budget;
  budget.limit = 100;
  std::vector<int> misses;
  for (int round = 0; round < 7; ++round) {
    int count = 1;
    while (!budget.begin(round))
      ++count;
    misses.push_back(count);
    budget.finish(CaptureBudget::Outcome::Compiled);
  }
  EXPECT_EQ(misses, (std::vector<int>{1, 1, 1, 1, 2, 4, 8}));
}

TEST(CaptureBudget, ColdSitesGetOneNewChance) {
  CaptureBudget budget;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(budget.begin(0));
    budget.finish(CaptureBudget::Outcome::Nothing);
  }
  EXPECT_TRUE(budget.isCold());
  int waited = 0;
  while (!budget.begin(0))
    ASSERT_LT(++waited, 1000);
  EXPECT_GT(waited, 10);
  budget.finish(CaptureBudget::Outcome::Failed);
  for (int i = 0; i < 1000; ++i)
    ASSERT_FALSE(budget.begin(0));
  budget.reset();
  EXPECT_TRUE(budget.begin(0));
}

} // namespace
