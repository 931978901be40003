// Named dimensions: the first tensor that has one says how long it is, the others must agree.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/status.hpp"
#include "base/view.hpp"

namespace fw {

enum class Dim {
  // Places that depend on how sequences lie: (B,Sq) or (Tq), (B,Sk) or (Tk) or (pages,page_size).
  q_batch,
  q_row,
  k_batch,
  k_row,
  optional_batch,
  // Sizes.
  batch,
  batch_plus_1,
  batch_or_1,
  cache_rows,
  seq_q,
  seq_q_or_1,
  seq_k,
  rows_q,
  rows_k,
  heads_q,
  heads_q_or_1,
  heads_k,
  dim_qk,
  dim_v,
  pages,
  page_size,
  columns,
  append,
  positions,
  rotary_half,
  partials,
  count,
};

struct Dims {
  int rank = 0;
  std::array<Dim, View::max_rank> at{};

  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<Dim> dims) {
    for (const Dim dim : dims) push(dim);
  }
  constexpr void push(Dim dim) { at[static_cast<std::size_t>(rank++)] = dim; }
};

class Sizes {
 public:
  Sizes();
  // Compares each dimension of the tensor with what is known, and learns what is not.
  Status take(std::string_view name, const View& view, const Dims& dims);

  void set(Dim dim, std::int64_t size, std::string_view source);
  std::int64_t of(Dim dim) const;  // 0 when no tensor has it
  bool known(Dim dim) const;

 private:
  struct Known {
    std::int64_t size = -1;
    std::string_view source;
  };
  std::array<Known, static_cast<std::size_t>(Dim::count)> known_;
};

// What can be said of one tensor alone: rank, data, alignment, strides.
Status check_view(std::string_view name, const View& view);

}  // namespace fw
