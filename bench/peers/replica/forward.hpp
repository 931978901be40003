// The forward pass over any matrix product.
#pragma once

#include <omp.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "blocks.hpp"
#include "passes.hpp"

namespace replica {

// A Product has Element, of q, k, v, out and the weights, and
//   scores(s, q, k, m, n, d)           s = q k^T, of m queries and n keys
//   values(o, p, v, m, n, d, first)    o = p v, or o += p v if not the first
template <class Product>
class Forward {
 public:
  using Element = typename Product::Element;

  explicit Forward(const ReplicaShape& shape)
      : shape_(shape),
        blocks_(blocks_for(shape.queries)),
        scale_(1 / std::sqrt(static_cast<float>(shape.dim))),
        scores_(blocks_.queries * blocks_.keys),
        sums_(blocks_.queries),
        most_(blocks_.queries),
        out_(blocks_.queries * shape.dim) {
    if constexpr (!in_place) weights_.resize(scores_.size());
  }

  // The block of queries that begins at row `begin`; pointers are those of its head.
  void block(const Element* q, const Element* k, const Element* v, Element* out, float* lse,
             std::int64_t begin) {
    const std::int64_t rows = std::min(blocks_.queries, shape_.queries - begin), dim = shape_.dim;
    const std::int64_t seen = keys_seen(shape_, begin + rows);
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    std::fill(most_.begin(), most_.end(), -infinity);
    for (std::int64_t key = 0; key < seen; key += blocks_.keys) {
      const std::int64_t keys = std::min(blocks_.keys, shape_.keys - key);
      product_.scores(scores_.data(), q + begin * dim, k + key * dim, rows, keys, dim);
      if (shape_.causal && seen - key <= blocks_.keys) hide(rows, keys, begin - key);
      for (std::int64_t row = 0; row < rows; ++row) soften(row, keys, key == 0);
      product_.values(out_.data(), weights(), v + key * dim, rows, keys, dim, key == 0);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      multiply(out + (begin + row) * dim, out_.data() + row * dim, dim, 1 / sums_[row]);
      lse[begin + row] = most_[row] + std::log(sums_[row]);
    }
  }

 private:
  static constexpr bool in_place = std::is_same_v<Element, float>;

  Element* weights() {
    if constexpr (in_place)
      return scores_.data();
    else
      return weights_.data();
  }

  // Keys after the query's own; `diagonal` is the last key of the block that the first row sees.
  void hide(std::int64_t rows, std::int64_t keys, std::int64_t diagonal) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t j = std::max<std::int64_t>(0, diagonal + row + 1); j < keys; ++j)
        scores_[row * keys + j] = -infinity;
  }

  // Every row sees a key of its first block, so the maximum is a number.
  void soften(std::int64_t row, std::int64_t keys, bool first) {
    float* scores = scores_.data() + row * keys;
    const float most = std::max(most_[row], scale_and_max(scores, keys, scale_));
    const float sum = exp_and_sum(weights() + row * keys, scores, keys, most);
    const float fade = exponential(most_[row] - most);
    sums_[row] = sum + fade * sums_[row];
    most_[row] = most;
    float* out = out_.data() + row * shape_.dim;
    if (!first) multiply(out, out, shape_.dim, fade);
  }

  const ReplicaShape& shape_;
  Blocks blocks_;
  float scale_;
  std::vector<float> scores_, sums_, most_, out_;
  std::vector<Element> weights_;
  Product product_;
};

// Blocks are dealt out in order, an equal share to each thread.
template <class Product, class Element = typename Product::Element>
void forward(const ReplicaShape& shape, const Element* q, const Element* k, const Element* v, Element* out,
             float* lse) {
  const std::int64_t block = blocks_for(shape.queries).queries, slices = blocks_in(shape.queries, block);
  const std::int64_t q_head = shape.queries * shape.dim, k_head = shape.keys * shape.dim;
#pragma omp parallel num_threads(shape.threads)
  {
    omp_set_num_threads(1);  // inside: a library that asks gets one thread
    Forward<Product> worker(shape);
#pragma omp for schedule(static)
    for (std::int64_t task = 0; task < shape.batch * shape.heads * slices; ++task) {
      const std::int64_t head = task / slices;
      worker.block(q + head * q_head, k + head * k_head, v + head * k_head, out + head * q_head,
                   lse + head * shape.queries, task % slices * block);
    }
  }
}

}  // namespace replica
