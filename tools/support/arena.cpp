#include "support/arena.hpp"

#include <algorithm>
#include <new>

#include "support/numbers.hpp"

namespace tools {

unsigned char* Arena::block(std::int64_t count, int dtype) {
  std::int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, static_cast<std::int64_t>(element_bytes(dtype)), &bytes))
    throw std::bad_alloc();
  blocks_.emplace_back(static_cast<std::size_t>(bytes), memory_);
  return blocks_.back().data();
}

void* Arena::add_bytes(std::size_t bytes) {
  const std::size_t rounded = (bytes + 255) / 256 * 256;  // keeps a guarded block's start aligned
  blocks_.emplace_back(rounded, memory_);
  return blocks_.back().data();
}

flashwave_tensor Arena::add(int dtype, const Shape& shape, Form form) {
  constexpr std::int64_t gap = 3;
  if (product(shape) < 0) throw std::bad_alloc();
  flashwave_tensor t = contiguous(nullptr, dtype, shape);
  const int last = t.rank - 1;
  if (form == Form::rows || t.rank == 0) {
    t.data = block(elements(t), dtype);
    return t;
  }
  if (form == Form::heads_first) {
    const int heads = last - 1, rows = last - 2;
    t.stride[rows] = t.shape[last];
    t.stride[heads] = t.shape[rows] * t.stride[rows];
    t.data = block(elements(t), dtype);
    return t;
  }
  for (int i = last - 1; i >= 0; --i) t.stride[i] = t.stride[i + 1] * t.shape[i + 1] + gap;
  std::int64_t end = gap;  // of the last element
  for (int i = 0; i <= last; ++i) end += (t.shape[i] - 1) * t.stride[i];
  t.data = block(elements(t) == 0 ? 0 : end + 1, dtype);
  if (elements(t) == 0) return t;
  t.data = at(t, gap);
  if (form == Form::backward) {
    const int rows = last - 2;
    t.data = at(t, (t.shape[rows] - 1) * t.stride[rows]);
    t.stride[rows] = -t.stride[rows];
  }
  return t;
}

std::vector<flashwave_tensor> Arena::add_packed(int dtype, const std::vector<Shape>& shapes) {
  std::int64_t row = 0, rows = 1;
  for (const Shape& shape : shapes) row += shape[shape.size() - 2] * shape.back();
  for (std::size_t i = 0; i + 2 < shapes[0].size(); ++i) rows *= shapes[0][i];
  unsigned char* data = block(product({rows, row}), dtype);
  std::vector<flashwave_tensor> tensors;
  for (const Shape& shape : shapes) {
    flashwave_tensor t = contiguous(data, dtype, shape);
    std::int64_t stride = row;
    for (int i = t.rank - 3; i >= 0; --i) {
      t.stride[i] = stride;
      stride *= t.shape[i];
    }
    data = at(t, t.shape[t.rank - 2] * t.shape[t.rank - 1]);
    tensors.push_back(t);
  }
  return tensors;
}

std::uint64_t Arena::checksum() const {
  std::uint64_t sum = 0;
  for (const Block& b : blocks_) {
    std::size_t i = 0;
    for (std::uint64_t word = 0; i + 8 <= b.size(); i += 8) {
      std::memcpy(&word, b.data() + i, 8);
      sum = (sum ^ word) * 0x9e3779b97f4a7c15u + (sum >> 29);
    }
    for (; i < b.size(); ++i) sum = mix(sum ^ b.data()[i]);
  }
  return sum;
}

bool Arena::untouched() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const Block& b) {
    return std::all_of(b.data(), b.data() + b.size(), [](unsigned char byte) { return byte == poison; });
  });
}

}  // namespace tools
