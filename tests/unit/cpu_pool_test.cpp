#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cpu/pool.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fw::cpu {
namespace {

constexpr double long_enough = 1;  // seconds: worth sharing

// Puts the default number of threads back.
struct Threads {
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(0); }
};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// Every task ran once, whatever the team.
TEST(Pool, RunsEachTaskOnce) {
  const Threads four(4);
  for (const int tasks : {0, 1, 2, 3, 4, 5, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
    parallel_for(team_for(tasks, long_enough), tasks,
                 [&](int task, int) { ++runs[static_cast<std::size_t>(task)]; });
    for (const auto& count : runs) ASSERT_EQ(count, 1) << tasks;
  }
}

TEST(Pool, WorkersAreNumberedBelowTheTeam) {
  const Threads four(4);
  std::atomic<int> largest{0};
  std::vector<std::atomic<int>> busy(4);
  parallel_for(3, 300, [&](int, int worker) {
    int seen = largest;
    while (worker > seen && !largest.compare_exchange_weak(seen, worker)) {
    }
    EXPECT_EQ(busy[static_cast<std::size_t>(worker)]++, 0);  // no two threads share a number
    std::this_thread::yield();
    --busy[static_cast<std::size_t>(worker)];
  });
  EXPECT_LT(largest, 3);
}

// Left alone, a worker goes through its own range from the front; what is stolen comes from a far end.
TEST(Pool, EachThreadKeepsAContiguousRange) {
  const Threads two(2);
  std::mutex mutex;
  std::vector<int> order[2];
  parallel_for(2, 40, [&](int task, int worker) {
    {
      const std::lock_guard lock(mutex);
      order[worker].push_back(task);
    }
    wait_a_little();
  });
  ASSERT_GE(order[0].size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(order[0][static_cast<std::size_t>(i)], i);
  ASSERT_GE(order[1].size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(order[1][static_cast<std::size_t>(i)], 20 + i);
}

TEST(Pool, IdleThreadsStealFromTheFarEnd) {
  const Threads two(2);
  std::mutex mutex;
  std::vector<int> stolen;
  parallel_for(2, 20, [&](int task, int worker) {
    if (worker == 0) wait_a_little();  // tasks 0 .. 9 are its own and slow
    const std::lock_guard lock(mutex);
    if (worker == 1 && task < 10) stolen.push_back(task);
  });
  ASSERT_FALSE(stolen.empty());
  for (std::size_t i = 0; i < stolen.size(); ++i) EXPECT_EQ(stolen[i], 9 - static_cast<int>(i));
}

TEST(Pool, ShortWorkStaysOnTheCaller) {
  const Threads four(4);
  EXPECT_EQ(team_for(100, 40e-6), 1);
  EXPECT_EQ(team_for(100, 1e-3), 4);
  EXPECT_EQ(team_for(3, 1e-3), 3);
  EXPECT_EQ(team_for(0, 1e-3), 1);
  const auto caller = std::this_thread::get_id();
  parallel_for(1, 10, [&](int, int) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(Pool, ACallFromATaskRunsSerially) {
  const Threads four(4);
  std::atomic<int> inner{0};
  parallel_for(4, 16, [&](int, int) {
    EXPECT_EQ(team_for(8, long_enough), 1);
    const auto thread = std::this_thread::get_id();
    parallel_for(4, 8, [&](int, int worker) {
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(std::this_thread::get_id(), thread);
      ++inner;
    });
  });
  EXPECT_EQ(inner, 128);
  EXPECT_EQ(team_for(8, long_enough), 4);  // and afterwards the caller shares again
}

// Every call has run all its tasks when it returns, whoever comes and goes meanwhile.
TEST(Pool, ConcurrentCallersAllFinish) {
  const Threads sixteen(16);
  std::atomic<int> unfinished{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int call = 0; call < 3000; ++call) {
        std::atomic<int> ran{0};
        parallel_for(16, 37, [&](int task, int) {
          for (std::atomic<int> spins{40 * (task % 5)}; spins > 0;) --spins;
          ++ran;
        });
        if (ran != 37) ++unfinished;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(unfinished, 0);
}

// A worker that serves a long call looks after each task whether somebody else waits.
TEST(Pool, WorkersServeCallsInTurn) {
  const Threads two(2);
  std::atomic<bool> stop{false}, helped{false};
  std::thread first([&] {
    while (!stop) parallel_for(2, 50, [&](int, int) { wait_a_little(); });
  });
  wait_a_little();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!helped && std::chrono::steady_clock::now() < end)
    parallel_for(2, 10, [&](int, int worker) {
      if (worker == 1) helped = true;
      wait_a_little();
    });
  stop = true;
  first.join();
  EXPECT_TRUE(helped);
}

TEST(Pool, TheFirstExceptionComesBack) {
  const Threads four(4);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    const auto run = [&] {
      parallel_for(4, 1000, [&](int task, int) {
        ++ran;
        if (task % 10 == 7) throw std::runtime_error("task");
      });
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_LT(ran, 1000);
  }
  std::atomic<int> after{0};
  parallel_for(4, 100, [&](int, int) { ++after; });
  EXPECT_EQ(after, 100);
}

TEST(Pool, TheNumberOfThreadsMayChangeAtAnyTime) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int count = 1; !stop; count = count % 7 + 1) set_threads(count);
  });
  for (int call = 0; call < 2000; ++call) {
    std::atomic<int> ran{0};
    const int team = team_for(20, long_enough);
    parallel_for(team, 20, [&](int, int worker) {
      EXPECT_LT(worker, team);
      ++ran;
    });
    ASSERT_EQ(ran, 20);
  }
  stop = true;
  changer.join();
  set_threads(0);
  EXPECT_GE(threads(), 1);
}

// What the caller set must not reach a task, and must be there again afterwards.
TEST(Pool, TasksSeeTheDefaultFloatingPointEnvironment) {
  const Threads three(3);
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
  const unsigned set = _mm_getcsr();
#endif
  for (const int team : {1, 3})
    parallel_for(team, 30, [&](int, int) {
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
#if defined(__x86_64__)
      EXPECT_EQ(_mm_getcsr() & 0xffc0u, 0x1f80u);
#endif
      wait_a_little();
    });
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
#if defined(__x86_64__)
  EXPECT_EQ(_mm_getcsr() & 0xffc0u, set & 0xffc0u);
#endif
  std::fesetenv(&before);
}

#if !defined(__SANITIZE_THREAD__)  // which forbids new threads after a fork
TEST(Pool, AForkedChildMakesAPoolOfItsOwn) {
  const Threads three(3);
  parallel_for(3, 30, [](int, int) {});  // the parent has workers now
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> ran{0}, by_workers{0};
    parallel_for(3, 60, [&](int, int worker) {
      ++ran;
      if (worker > 0) ++by_workers;
      wait_a_little();
    });
    _exit(ran == 60 && by_workers > 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

// A sleeping worker takes no processor time.
TEST(Pool, IdleWorkersSleep) {
  const Threads two(2);
  parallel_for(2, 10, [](int, int) { wait_a_little(); });
  wait_a_little();
  const auto before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 50);
}

}  // namespace
}  // namespace fw::cpu
