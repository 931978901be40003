// Strided tensors of the C interface: making, narrowing, walking.
#pragma once

#include <flashwave/flashwave.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/element.hpp"

namespace tools {

using Shape = std::vector<std::int64_t>;

inline bool given(const flashwave_tensor& t) { return t.rank > 0; }

inline Shape shape_of(const flashwave_tensor& t) { return {t.shape, t.shape + t.rank}; }

inline std::int64_t elements(const flashwave_tensor& t) {
  std::int64_t n = given(t) ? 1 : 0;
  for (int i = 0; i < t.rank; ++i) n *= t.shape[i];
  return n;
}

// The product of a shape, or -1 when it does not fit.
inline std::int64_t product(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(n, extent, &n)) return -1;
  return n;
}

flashwave_tensor contiguous(void* data, int dtype, const Shape& shape);

// `count` positions of an axis from `first` on.
flashwave_tensor narrow(flashwave_tensor t, int axis, std::int64_t first, std::int64_t count);

inline unsigned char* at(const flashwave_tensor& t, std::int64_t offset) {
  return static_cast<unsigned char*>(t.data) + offset * static_cast<std::int64_t>(element_bytes(t.dtype));
}

// Calls visit(row, offset) for each run of the last dimension: its number in the shape's order, and its
// offset in elements from data.
template <class Visit>
void for_each_row(const flashwave_tensor& t, Visit visit) {
  if (elements(t) == 0) return;
  std::int64_t index[FLASHWAVE_MAX_RANK] = {};
  std::int64_t offset = 0;
  for (std::int64_t row = 0;; ++row) {
    visit(row, offset);
    int axis = t.rank - 2;
    for (; axis >= 0; --axis) {
      offset += t.stride[axis];
      if (++index[axis] < t.shape[axis]) break;
      offset -= t.stride[axis] * t.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

// Both have one shape and dtype.
void copy(const flashwave_tensor& to, const flashwave_tensor& from);
void fill_bytes(const flashwave_tensor& t, unsigned char byte);
std::vector<std::int32_t> read_ints(const flashwave_tensor& t);

}  // namespace tools
