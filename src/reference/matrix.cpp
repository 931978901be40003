#include "reference/matrix.hpp"

#include <algorithm>
#include <cmath>

namespace fw::reference {
namespace {

template <class Real>
struct Product {
  Real* c;
  int64_t c_stride;
  const Real* a;
  int64_t a_row, a_depth;
  const Real* b;
  int64_t b_stride;
  int64_t rows, cols, depth;
};

// Each element of c is one running sum over depth, so the vector width changes no bit. Vectors are GCC's, 64
// bytes wide: an instruction set with narrower registers takes several for one.
template <class Real, int tile_rows, int tile_vectors>
[[gnu::always_inline]] inline void multiply(const Product<Real>& p) {
  typedef Real Vector __attribute__((vector_size(64), aligned(alignof(Real)), may_alias));
  constexpr int lanes = 64 / sizeof(Real);
  for (int64_t j = 0; j < p.cols; j += tile_vectors * lanes)
    for (int64_t i = 0; i < p.rows; i += tile_rows) {
      Vector sum[tile_rows][tile_vectors];
#pragma GCC unroll 8
      for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < tile_vectors; ++v)
          sum[r][v] = *reinterpret_cast<const Vector*>(p.c + (i + r) * p.c_stride + j + v * lanes);
      const Real* a = p.a + i * p.a_row;
      const Real* b = p.b + j;
      for (int64_t l = 0; l < p.depth; ++l, a += p.a_depth, b += p.b_stride) {
#pragma GCC unroll 2
        for (int v = 0; v < tile_vectors; ++v) {
          const Vector wide = *reinterpret_cast<const Vector*>(b + v * lanes);
#pragma GCC unroll 8
          for (int r = 0; r < tile_rows; ++r) sum[r][v] += a[r * p.a_row] * wide;
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < tile_vectors; ++v)
          *reinterpret_cast<Vector*>(p.c + (i + r) * p.c_stride + j + v * lanes) = sum[r][v];
    }
}

template <class Real>
void multiply_baseline(const Product<Real>& p) {
  multiply<Real, 2, 1>(p);
}

#if defined(__x86_64__)
template <class Real>
[[gnu::target("avx2")]] void multiply_avx2(const Product<Real>& p) {
  multiply<Real, 4, 1>(p);
}
template <class Real>
[[gnu::target("avx512f")]] void multiply_avx512(const Product<Real>& p) {
  multiply<Real, 8, 2>(p);
}
#endif

template <class Real>
auto* multiply_here() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return &multiply_avx512<Real>;
  if (__builtin_cpu_supports("avx2")) return &multiply_avx2<Real>;
#endif
  return &multiply_baseline<Real>;
}

template <class Real>
bool finite(const Real* row, int64_t count) {
  return std::all_of(row, row + count, [](Real x) { return std::isfinite(x); });
}

}  // namespace

template <class Real>
void transpose(Matrix<Real>& to, const Matrix<Real>& from) {
  to.reset(from.cols, from.rows);
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.cols; ++j) to.row(j)[i] = from.row(i)[j];
}

template <class Real>
void accumulate(Matrix<Real>& c, int64_t column, const Factor<Real>& a, const Matrix<Real>& b) {
  static auto* const multiply_best = multiply_here<Real>();
  const auto product = [&](const Matrix<Real>& right) {
    multiply_best({c.row(0) + column, c.stride, a.data, a.row_stride, a.depth_stride, right.row(0),
                   right.stride, a.rows, right.cols, a.depth});
  };
  std::vector<int64_t> wild;  // rows of b that must meet visible factors only
  if (a.visible)
    for (int64_t l = 0; l < a.depth; ++l)
      if (!finite(b.row(l), b.cols)) wild.push_back(l);
  if (wild.empty()) return product(b);

  Matrix<Real> tame = b;
  for (const int64_t l : wild) std::fill_n(tame.row(l), b.cols, Real{0});
  product(tame);
  for (const int64_t l : wild)
    for (int64_t i = 0; i < a.rows; ++i) {
      const int64_t at = i * a.row_stride + l * a.depth_stride;
      if (!a.visible[at]) continue;
      for (int64_t j = 0; j < b.cols; ++j) c.row(i)[column + j] += a.data[at] * b.row(l)[j];
    }
}

template void transpose(Matrix<float>&, const Matrix<float>&);
template void transpose(Matrix<double>&, const Matrix<double>&);
template void accumulate(Matrix<float>&, int64_t, const Factor<float>&, const Matrix<float>&);
template void accumulate(Matrix<double>&, int64_t, const Factor<double>&, const Matrix<double>&);

}  // namespace fw::reference
