// Work of a Case: the pairs that are visible, counted exactly, and what follows from them.
#pragma once

#include <cstdint>

#include "problem/case.hpp"

namespace fw {

struct Counts {
  double pairs = 0;  // visible (query, key) pairs, summed over batch and q heads
  double flops = 0;  // forward 2(D+Dv), backward 2(3D+2Dv) a pair
  double bytes = 0;  // every input read once, every output written once
};

Counts count(const Case& c, Pass pass);

}  // namespace fw
