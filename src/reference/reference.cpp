#include "reference/reference.hpp"

#include <atomic>
#include <new>

#include "reference/attend.hpp"
#include "reference/passes.hpp"

namespace fw::reference {

Status run_tasks(const Parallel& parallel, std::size_t tasks, const std::function<void(std::size_t)>& task) {
  std::atomic<bool> starved = false;
  const auto guarded = [&](int t) {
    try {
      task(static_cast<std::size_t>(t));
    } catch (const std::bad_alloc&) {
      starved = true;
    }
  };
  if (parallel && tasks > 0)
    parallel(static_cast<int>(tasks), guarded);
  else
    for (std::size_t t = 0; t < tasks; ++t) guarded(static_cast<int>(t));
  return starved ? exhausted("the reference found no memory for its score matrices") : Status();
}

std::vector<QueryTask> query_tasks(const Attention& a) {
  std::vector<QueryTask> tasks;
  for (const Sequence& s : a.sequences)
    for (int64_t h = 0; h < a.heads_q; ++h)
      for (const Span queries : blocks({0, s.queries}, query_block))
        tasks.push_back({Head{a, s, h}, queries});
  return tasks;
}

Status run(const Problem& problem, const Call& call, Mode mode, const Parallel& parallel) try {
  const Attention attention = resolve(problem, call);
  const bool eager = mode == Mode::eager;
  if (call.pass == Pass::forward)
    return eager ? forward<float>(attention, parallel) : forward<double>(attention, parallel);
  return eager ? backward<float>(attention, parallel) : backward<double>(attention, parallel);
} catch (const std::bad_alloc&) {
  return exhausted("the reference found no memory for its state");
}

}  // namespace fw::reference
