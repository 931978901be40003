// Elements of any dtype as double or float, and the rounding of results.
// Everything templated on Real is the oracle for double, which rounds nothing, and eager for float.
#pragma once

#include <cstdint>

#include "base/view.hpp"

namespace fw::reference {

using std::int64_t;

double load(const View& view, int64_t index);
template <class Real>
void load_row(Real* to, const View& view, int64_t index, int64_t count);

// Rounds once, to nearest, ties to even.
void store(const View& view, int64_t index, double value);
void fill(const View& view, double value);  // every element; an absent view has none

inline double rounded(double x, DType) { return x; }
float rounded(float x, DType dtype);

inline int64_t integer(const View& view, int64_t index) {
  return static_cast<const std::int32_t*>(view.data)[index * view.stride[0]];
}

}  // namespace fw::reference
