// The device naive: attention with the whole score matrix of a head in memory, head by head, on the CPU's own
// products. A yardstick of speed, which does what a chain of matrix products and a softmax would do.
#pragma once

#include <optional>
#include <string>

#include "base/status.hpp"
#include "cpu/kernels.hpp"
#include "plan/plan.hpp"
#include "problem/call.hpp"

namespace fw::cpu {

std::optional<std::string> naive_declines(const Problem& problem);
Status naive_workspace(const Kernels& kernels, const Problem& problem, std::size_t& bytes);
Status run_naive(const Kernels& kernels, const Plan& plan, const Call& call, double seconds);

}  // namespace fw::cpu
