// The value type on which code outside the kernels applies the rules of src/meaning: portable vectors, whose
// arithmetic and functions are found in namespace host.
#pragma once

// clang-format off
#include "cpu/simd/portable.hpp"
#include "cpu/simd/math.hpp"  // written for the vectors above
// clang-format on

namespace fw::host {

FLASHWAVE_RULE float first_lane(Vec x) {
  float value[lanes];
  store(value, x);
  return value[0];
}

}  // namespace fw::host
