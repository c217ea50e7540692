//===- OpenMPTest.cpp - Loops on somebody else's pool ---------------------===//

#include "Sanitizers.h"
#include "wok/Runtime/Parallel.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace wok::runtime;

namespace {

int64_t sum(int64_t count) {
  std::atomic<int64_t> total{0};
  parallelFor(0, count, 10, [&](int64_t first, int64_t last) -> int32_t {
    total += last - first;
    return 0;
  });
  return total;
}

TEST(OpenMP, FoundWhenLoaded) {
  // ThreadSanitizer cannot see the synchronisation inside libgomp.
#if WOK_TEST_TSAN
  GTEST_SKIP();
#endif
  EXPECT_FALSE(usesOpenMP());
  EXPECT_EQ(sum(1000), 1000);
  void *library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << "no libgomp on this machine";
  EXPECT_FALSE(usesOpenMP()) << "looked without being asked";
  findLoadedOpenMP();
  ASSERT_TRUE(usesOpenMP());

  auto setThreads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  for (int threads : {3, 1, 2}) {
    setThreads(threads);
    EXPECT_EQ(threadCount(), threads);
    EXPECT_EQ(sum(1000), 1000);
    EXPECT_EQ(sum(7), 7);
  }
  {
    // Beside it, but with no more threads than it would use.
    setOwnPoolThreads(2);
    OwnPoolScope scope(true);
    for (int threads : {1, 3}) {
      setThreads(threads);
      EXPECT_EQ(threadCount(), std::min(threads, 2));
      EXPECT_EQ(sum(1000), 1000);
    }
    OwnPoolScope inner(false);
    EXPECT_EQ(threadCount(), 2);
  }
  EXPECT_EQ(threadCount(), 3);
  EXPECT_EQ(parallelFor(0, 2, 1,
                        [](int64_t first, int64_t) -> int32_t {
                          return first ? 2 : 1;
                        }),
            3);

  // A child of a process whose team was in use goes on, on Wok's own pool.
  pid_t child = fork();
  if (child == 0)
    _exit(!usesOpenMP() && sum(1000) == 1000 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(usesOpenMP());
}

} // namespace
