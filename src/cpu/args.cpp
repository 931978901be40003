#include "cpu/args.hpp"

namespace fw::cpu {

HostArgs host_args(const Problem& p, const Call& call) {
  HostArgs result{call_args(p, call), {}};
  if (const int* const given = result.args.diagonals) {
    for (int b = 0; b < result.args.batch; ++b)
      result.diagonals.push_back(bound_mask(p.left, p.right, given[b]).diagonal);
    result.args.diagonals = result.diagonals.data();
  }
  return result;
}

}  // namespace fw::cpu
