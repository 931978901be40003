// From a Problem and the tensors of a Call to the Args that kernels receive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "meaning/args.hpp"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw {

// Longest sequence of a backend. Up to here no sum of positions, windows and diagonals leaves an int.
inline constexpr std::int64_t longest_sequence = std::int64_t{1} << 28;

// Why positions of this problem would leave it; empty = they do not.
std::optional<std::string> too_far(const Problem& problem);

// A mask bounded so that kernels may add its members to any query or key in 32 bits, and that shows the same
// keys. Left and right are bounded alike for every sequence, so the diagonal takes up what that changes.
struct BoundedMask {
  int left, right, diagonal;
};
BoundedMask bound_mask(int left, int right, int diagonal);

// Sizes, scalars and which features there are, for questions about scratch sizes: data pointers mean only
// "given".
Args shape_args(const Problem& problem);

// Pointers are the caller's, wherever they lead: nothing is read. So `diagonals` are as given, not bounded.
Args call_args(const Problem& problem, const Call& call);

}  // namespace fw
