#include "support/tensor.hpp"

namespace tools {

flashwave_tensor contiguous(void* data, int dtype, const Shape& shape) {
  flashwave_tensor t{};
  t.data = data;
  t.dtype = dtype;
  t.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    t.shape[i] = shape[i];
    t.stride[i] = stride;
    stride *= shape[i];
  }
  return t;
}

flashwave_tensor narrow(flashwave_tensor t, int axis, std::int64_t first, std::int64_t count) {
  t.data = at(t, first * t.stride[axis]);
  t.shape[axis] = count;
  return t;
}

void copy(const flashwave_tensor& to, const flashwave_tensor& from) {
  if (elements(to) == 0) return;
  const Shape shape = shape_of(to);
  const std::size_t bytes = static_cast<std::size_t>(shape.back()) * element_bytes(to.dtype);
  std::vector<std::int64_t> offsets;
  for_each_row(from, [&](std::int64_t, std::int64_t offset) { offsets.push_back(offset); });
  for_each_row(to, [&](std::int64_t row, std::int64_t offset) {
    std::memcpy(at(to, offset), at(from, offsets[static_cast<std::size_t>(row)]), bytes);
  });
}

void fill_bytes(const flashwave_tensor& t, unsigned char byte) {
  for_each_row(t, [&](std::int64_t, std::int64_t offset) {
    std::memset(at(t, offset), byte, static_cast<std::size_t>(t.shape[t.rank - 1]) * element_bytes(t.dtype));
  });
}

std::vector<std::int32_t> read_ints(const flashwave_tensor& t) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; given(t) && i < t.shape[0]; ++i)
    values.push_back(static_cast<const std::int32_t*>(t.data)[i * t.stride[0]]);
  return values;
}

}  // namespace tools
