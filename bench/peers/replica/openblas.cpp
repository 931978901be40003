// fp32, forward and backward, over OpenBLAS.
#include <cblas.h>

#include "forward.hpp"

namespace replica {

namespace {

struct BlasProduct {
  using Element = float;

  void scores(float* s, const float* q, const float* k, std::int64_t m, std::int64_t n,
              std::int64_t d) const {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, q, d, k, d, 0, s, n);
  }
  void values(float* o, const float* p, const float* v, std::int64_t m, std::int64_t n, std::int64_t d,
              bool first) const {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, d, n, 1, p, n, v, d, first ? 0 : 1, o, d);
  }
};

// What one head's backward pass reads and writes.
struct Head {
  const float *q, *k, *v, *out, *lse, *dout;
  float *dq, *dk, *dv;
};

class Backward {
 public:
  explicit Backward(const ReplicaShape& shape)
      : shape_(shape),
        blocks_(blocks_for(shape.queries)),
        scale_(1 / std::sqrt(static_cast<float>(shape.dim))),
        weights_(blocks_.queries * blocks_.keys),
        slopes_(weights_.size()),
        deltas_(blocks_.queries) {}

  void head(const Head& head) {
    std::fill_n(head.dq, shape_.queries * shape_.dim, 0.0f);
    std::fill_n(head.dk, shape_.keys * shape_.dim, 0.0f);
    std::fill_n(head.dv, shape_.keys * shape_.dim, 0.0f);
    for (std::int64_t begin = 0; begin < shape_.queries; begin += blocks_.queries) {
      const std::int64_t rows = std::min(blocks_.queries, shape_.queries - begin);
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at = (begin + row) * shape_.dim;
        deltas_[row] = dot(head.dout + at, head.out + at, shape_.dim);
      }
      const std::int64_t seen = keys_seen(shape_, begin + rows);
      for (std::int64_t key = 0; key < seen; key += blocks_.keys) block(head, begin, rows, key);
    }
  }

 private:
  void block(const Head& head, std::int64_t begin, std::int64_t rows, std::int64_t key) {
    const auto m = static_cast<blasint>(rows), d = static_cast<blasint>(shape_.dim);
    const auto n = static_cast<blasint>(std::min(blocks_.keys, shape_.keys - key));
    const float *q = head.q + begin * d, *dout = head.dout + begin * d, *k = head.k + key * d,
                *v = head.v + key * d;
    float *p = weights_.data(), *ds = slopes_.data();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, scale_, q, d, k, d, 0, p, n);
    for (std::int64_t row = 0; row < rows; ++row)
      weigh(p + row * n, n, head.lse[begin + row], begin + row - key);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, d, m, 1, p, n, dout, d, 1, head.dv + key * d, d);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, dout, d, v, d, 0, ds, n);
    for (std::int64_t row = 0; row < rows; ++row) slope(ds + row * n, p + row * n, n, deltas_[row]);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, d, n, scale_, ds, n, k, d, 1,
                head.dq + begin * d, d);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, d, m, scale_, ds, n, q, d, 1, head.dk + key * d,
                d);
  }

  // Scores become weights; those of keys after `last` are 0.
  void weigh(float* row, std::int64_t count, float lse, std::int64_t last) const {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) row[j] = exponential(row[j] - lse);
    for (std::int64_t j = last + 1; shape_.causal && j < count; ++j) row[j] = 0;
  }

  static void slope(float* slopes, const float* weights, std::int64_t count, float delta) {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) slopes[j] = weights[j] * (slopes[j] - delta);
  }

  const ReplicaShape& shape_;
  Blocks blocks_;
  float scale_;
  std::vector<float> weights_, slopes_, deltas_;
};

}  // namespace

}  // namespace replica

extern "C" void replica_forward_fp32(const ReplicaShape* shape, const float* q, const float* k,
                                     const float* v, float* out, float* lse) {
  openblas_set_num_threads(1);  // its caller is parallel
  replica::forward<replica::BlasProduct>(*shape, q, k, v, out, lse);
}

// Heads are all that is parallel here, in PyTorch too.
extern "C" void replica_backward_fp32(const ReplicaShape* shape, const float* q, const float* k,
                                      const float* v, const float* out, const float* lse, const float* dout,
                                      float* dq, float* dk, float* dv) {
  openblas_set_num_threads(1);
#pragma omp parallel num_threads(shape->threads)
  {
    replica::Backward worker(*shape);
#pragma omp for schedule(static)
    for (std::int64_t head = 0; head < shape->batch * shape->heads; ++head) {
      const std::int64_t row = head * shape->queries, at = row * shape->dim,
                         key = head * shape->keys * shape->dim;
      worker.head({q + at, k + key, v + key, out + at, lse + row, dout + at, dq + at, dk + key, dv + key});
    }
  }
}
