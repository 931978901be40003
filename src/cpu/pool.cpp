#include "cpu/pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/env.hpp"
#include "cpu/cores.hpp"
#include "cpu/float_environment.hpp"

namespace fw::cpu {
namespace {

constexpr double worth_sharing = 50e-6;  // seconds; waking a worker costs about a tenth of it
constexpr auto spin_time = std::chrono::microseconds(20);
constexpr int most_threads = 1024;

thread_local bool inside_task = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// The caller's share: tasks see the default floating-point environment, and calls inside them run serially.
class TaskScope {
 public:
  TaskScope() : outer_(inside_task) { inside_task = true; }
  ~TaskScope() { inside_task = outer_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  bool outer_;
  DefaultFloatEnvironment environment_;
};

// Tasks begin .. end-1 that nobody has taken yet, in one word. Its owner takes from the front, thieves from
// the back.
class alignas(64) Range {
 public:
  void set(std::uint32_t begin, std::uint32_t end) {
    bounds_.store(pack(begin, end), std::memory_order_relaxed);
  }
  std::uint32_t left() const {
    const auto bounds = bounds_.load(std::memory_order_relaxed);
    return end_of(bounds) - begin_of(bounds);
  }
  bool take_front(int& task) { return take(task, true); }
  bool take_back(int& task) { return take(task, false); }

 private:
  static std::uint64_t pack(std::uint32_t begin, std::uint32_t end) {
    return std::uint64_t{end} << 32 | begin;
  }
  static std::uint32_t begin_of(std::uint64_t bounds) { return static_cast<std::uint32_t>(bounds); }
  static std::uint32_t end_of(std::uint64_t bounds) { return static_cast<std::uint32_t>(bounds >> 32); }

  bool take(int& task, bool front) {
    auto bounds = bounds_.load(std::memory_order_relaxed);
    for (;;) {
      const auto begin = begin_of(bounds), end = end_of(bounds);
      if (begin == end) return false;
      const auto rest = front ? pack(begin + 1, end) : pack(begin, end - 1);
      if (!bounds_.compare_exchange_weak(bounds, rest, std::memory_order_relaxed)) continue;
      task = static_cast<int>(front ? begin : end - 1);
      return true;
    }
  }

  std::atomic<std::uint64_t> bounds_{0};
};

// One parallel_for. It lives on its caller's stack, so a worker may touch it only between enter() and
// leave().
struct Job {
  void (*run)(void*, int, int);
  void* context;
  int team;
  std::unique_ptr<Range[]> ranges;  // one a member of the team
  std::atomic<int> visitors{0};     // workers inside; changed under the pool's mutex
  std::exception_ptr failure;       // guarded by the pool's mutex

  // Ranges only shrink, so this stays true once it is.
  bool dry() const {
    return std::all_of(&ranges[0], &ranges[0] + team, [](const Range& range) { return range.left() == 0; });
  }
  bool take(int worker, int& task) {
    if (ranges[worker].take_front(task)) return true;
    while (!dry())  // a range that looked fullest may be empty by now, so its emptiness alone says nothing
      if (fullest().take_back(task)) return true;
    return false;
  }
  Range& fullest() const {
    return *std::max_element(&ranges[0], &ranges[0] + team,
                             [](const Range& a, const Range& b) { return a.left() < b.left(); });
  }
  void abandon() {
    for (int i = 0; i < team; ++i) ranges[i].set(0, 0);
  }
};

class Pool {
 public:
  void run(Job& job) {
    enlist(job);
    {
      TaskScope scope;
      for (int task; job.take(0, task);) attempt(job, task, 0);
    }
    dismiss(job);
  }

 private:
  void enlist(Job& job) {
    const std::lock_guard lock(mutex_);
    hire(job.team - 1);
    jobs_.push_back(&job);
    job_count_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
    arrivals_.fetch_add(1, std::memory_order_release);
    wake_.notify_all();
  }

  // No task is left to take: waits for those that workers are still at.
  void dismiss(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(jobs_, &job);
      job_count_.store(static_cast<int>(jobs_.size()), std::memory_order_relaxed);
    }
    const auto deserted = [&job] { return job.visitors.load(std::memory_order_acquire) == 0; };
    if (spin_until(deserted)) return;
    std::unique_lock lock(mutex_);
    left_.wait(lock, deserted);
  }

  // Under the mutex. Where the system gives no more threads, those that exist and the caller do the work.
  void hire(int wanted) {
    if (workers_ >= wanted) return;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signals are for its own threads
    try {
      for (; workers_ < wanted; ++workers_) std::thread(&Pool::serve, this, workers_ + 1).detach();
    } catch (const std::exception&) {
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void serve(int worker) {
    inside_task = true;
    std::fesetenv(FE_DFL_ENV);  // a thread inherits the environment of the one that made it
    for (std::uint64_t seen = 0;;) {
      Job* const job = enter(worker, seen);
      if (job == nullptr) {
        await(seen);
        continue;
      }
      for (int task; job->take(worker, task);) {
        attempt(*job, task, worker);
        if (job_count_.load(std::memory_order_relaxed) > 1) break;  // look who else waits
      }
      leave(*job);
    }
  }

  // A job with work for this worker, in turn; null: none, and `seen` jobs have arrived so far.
  Job* enter(int worker, std::uint64_t& seen) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      Job* const job = jobs_[++turn_ % jobs_.size()];
      if (worker >= job->team || job->dry()) continue;
      job->visitors.fetch_add(1, std::memory_order_relaxed);
      return job;
    }
    seen = arrivals_.load(std::memory_order_relaxed);
    return nullptr;
  }

  void leave(Job& job) {
    const std::lock_guard lock(mutex_);
    if (job.visitors.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
  }

  void await(std::uint64_t seen) {
    const auto arrived = [this, seen] { return arrivals_.load(std::memory_order_acquire) != seen; };
    if (spin_until(arrived)) return;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, arrived);
  }

  void attempt(Job& job, int task, int worker) {
    try {
      job.run(job.context, task, worker);
    } catch (...) {
      job.abandon();
      const std::lock_guard lock(mutex_);
      if (!job.failure) job.failure = std::current_exception();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::vector<Job*> jobs_;
  std::atomic<int> job_count_{0};
  std::atomic<std::uint64_t> arrivals_{0};
  std::size_t turn_ = 0;
  int workers_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};
std::atomic<int> asked_threads{0};  // 0 = the default

// Never destroyed: its workers are detached and may outlive every static object.
Pool& pool() {
  if (Pool* const existing = the_pool.load(std::memory_order_acquire)) return *existing;
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr, std::memory_order_relaxed); });
  auto fresh = std::make_unique<Pool>();
  Pool* expected = nullptr;
  if (the_pool.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *expected;
}

int default_threads() {
  static const int once = [] {
    const int cap = environment().threads;
    return std::min(usable_cores(), cap > 0 ? cap : most_threads);
  }();
  return once;
}

}  // namespace

int threads() {
  const int asked = asked_threads.load(std::memory_order_relaxed);
  return asked > 0 ? asked : default_threads();
}

void set_threads(int count) {
  asked_threads.store(std::clamp(count, 0, most_threads), std::memory_order_relaxed);
}

int team_for(int tasks, double seconds) {
  if (inside_task || seconds < worth_sharing) return 1;
  return std::max(1, std::min(tasks, threads()));
}

void share(int team, int tasks, void (*run)(void*, int, int), void* context) {
  team = inside_task ? 1 : std::min(team, tasks);
  Job job{run, context, team, nullptr, {}, nullptr};
  if (team > 1) job.ranges.reset(new (std::nothrow) Range[static_cast<std::size_t>(team)]);
  if (!job.ranges) {
    TaskScope scope;
    for (int task = 0; task < tasks; ++task) run(context, task, 0);
    return;
  }
  const auto boundary = [&](int member) {
    return static_cast<std::uint32_t>(std::int64_t{tasks} * member / team);
  };
  for (int member = 0; member < team; ++member)
    job.ranges[member].set(boundary(member), boundary(member + 1));
  pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace fw::cpu
