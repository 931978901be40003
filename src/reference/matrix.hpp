// Dense scratch matrices and the one product everything is made of.
#pragma once

#include <cstdint>
#include <vector>

namespace fw::reference {

using std::int64_t;

// Rows are padded to whole register tiles of the product, and the padding is zero after reset().
template <class T>
struct Matrix {
  int64_t rows = 0, cols = 0, stride = 0;
  std::vector<T> elements;

  void reset(int64_t new_rows, int64_t new_cols) {
    rows = new_rows;
    cols = new_cols;
    // 16 more keep the rows of a tile out of each other's cache sets when cols is a power of two.
    stride = (cols + 31) / 32 * 32 + 16;
    elements.assign(static_cast<std::size_t>((rows + 7) / 8 * 8 * stride), T{});
  }
  T* row(int64_t i) { return elements.data() + i * stride; }
  const T* row(int64_t i) const { return elements.data() + i * stride; }
};

template <class Real>
void transpose(Matrix<Real>& to, const Matrix<Real>& from);

// A rectangle of a matrix, or its transpose, as the left factor of a product. Where `visible` is given and 0,
// the factor is exactly zero and hides whatever it would multiply, infinite or NaN.
template <class Real>
struct Factor {
  const Real* data;
  const std::uint8_t* visible;
  int64_t rows, depth;
  int64_t row_stride, depth_stride;
};
template <class Real>
Factor<Real> columns(const Matrix<Real>& m, int64_t begin, int64_t count) {
  return {m.row(0) + begin, nullptr, m.rows, count, m.stride, 1};
}
template <class Real>
Factor<Real> columns(const Matrix<Real>& m, const Matrix<std::uint8_t>& visible, int64_t begin,
                     int64_t count) {
  return {m.row(0) + begin, visible.row(0) + begin, m.rows, count, m.stride, 1};
}
template <class Real>
Factor<Real> transposed(const Matrix<Real>& m, const Matrix<std::uint8_t>& visible) {
  return {m.row(0), visible.row(0), m.cols, m.rows, 1, m.stride};
}

// c(:, column...) += a * b, each sum in the order of depth. b has a.depth rows.
template <class Real>
void accumulate(Matrix<Real>& c, int64_t column, const Factor<Real>& a, const Matrix<Real>& b);

}  // namespace fw::reference
