// The threads of the CPU backend: one pool a process, made at first use.
//
// - The caller always works itself, so a call ends even when no worker is free; workers serve concurrent
//   calls in turn, task by task.
// - Each thread keeps a contiguous range of the tasks and, once that is done, steals from the far end of the
//   fullest other range: neighbouring tasks, which share keys and values, mostly stay on one thread.
// - Every task runs under the default floating-point environment, whatever the caller set: workers take it
//   on at birth, the caller for its share and then gets its own back. Results therefore depend neither on
//   the thread that ran a task nor on the caller's rounding mode or flush-to-zero.
// - A worker that finds nothing to do spins for 20 us, then sleeps. Workers are never joined; after fork()
//   the child makes a pool of its own.
#pragma once

#include <type_traits>

namespace fw::cpu {

// Threads a call may use, the caller included. The default is what affinity and the cgroup quota leave, at
// most FLASHWAVE_THREADS.
int threads();
void set_threads(int count);  // 0 = the default again

// Threads worth using for so many tasks of `seconds` in all: 1 from inside a task, or when the work is too
// short to share.
int team_for(int tasks, double seconds);

// Calls run(context, task, worker) for each task once, 0 <= worker < team. The first exception of a task ends
// the handing out and comes back to the caller.
void share(int team, int tasks, void (*run)(void* context, int task, int worker), void* context);

template <class Body>
void parallel_for(int team, int tasks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  const auto run = [](void* context, int task, int worker) { (*static_cast<Plain*>(context))(task, worker); };
  share(team, tasks, run, const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace fw::cpu
