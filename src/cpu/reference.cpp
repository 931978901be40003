#include "cpu/reference.hpp"

#include <limits>

#include "cpu/pool.hpp"

namespace fw::cpu {

Status run_reference(const Plan& plan, const Call& call, reference::Mode mode) {
  // Double precision, a pair at a time: always worth sharing.
  constexpr double long_enough = std::numeric_limits<double>::infinity();
  const auto share = [](int tasks, const std::function<void(int)>& run) {
    parallel_for(team_for(tasks, long_enough), tasks, [&](int task, int) { run(task); });
  };
  return reference::run(plan.problem, call, mode, share);
}

}  // namespace fw::cpu
