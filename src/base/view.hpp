// A strided view of a tensor somebody else owns.
#pragma once

#include <array>
#include <cstdint>

#include "base/dtype.hpp"

namespace fw {

struct View {
  static constexpr int max_rank = 5;

  void* data = nullptr;  // null = the tensor is absent
  DType dtype = DType::none;
  int rank = 0;
  std::array<std::int64_t, max_rank> shape{};
  std::array<std::int64_t, max_rank> stride{};  // in elements

  bool given() const { return rank > 0; }  // an empty tensor may have no data
  bool empty() const {
    for (int i = 0; i < rank; ++i)
      if (shape[i] == 0) return true;
    return false;
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return rank ? n : 0;
  }
};

}  // namespace fw
