// The Args of a call whose tensors are in the host's memory.
#pragma once

#include <vector>

#include "backend/args.hpp"

namespace fw::cpu {

struct HostArgs {
  Args args;
  std::vector<int> diagonals;  // bounded: what args.diagonals points to
};
// The values of lengths and tables have been checked.
HostArgs host_args(const Problem& problem, const Call& call);

}  // namespace fw::cpu
