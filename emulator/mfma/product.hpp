// D = A B + C on unpacked matrices, fast or exact.
#pragma once
#include "mfma/exact.hpp"
#include "mfma/operands.hpp"
#include "mfma/vector8.hpp"

namespace cdna {

// How exact sums are grouped, by generation and input.
struct Rounding {
  enum Kind : uint8_t { chain, fused, pairwise } kind;
  int group;
  Precision a, b;
  bool even_odd;
};

// One fp32 fused multiply-add a product, k upwards: for matrices of 4 rows.
template <class L>
void multiply_small(Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b) {
  for (int n = 0; n < L::kOutputs; ++n)
    for (int part = 0; part < L::kParts; ++part) {
      const int block = L::output_block(n, part), row = L::output_row(n, part);
      float* out = d.x[n] + part * L::M;
      for (int k = 0; k < L::K; ++k)
        for (int l = 0; l < L::M; ++l) out[l] = __builtin_fmaf(a.x[block][k][row], b.x[block][k][l], out[l]);
    }
}

// The same for 16 and 32 rows: the items of a group are rows side by side, and share what is read of B.
template <class L>
void multiply_large(Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b) {
  constexpr int kVectors = L::M / Vector8::kSize, kRows = 64 / L::M;  // 8 sums in registers
  static_assert(L::H % kRows == 0);
  for (int n = 0; n < L::kOutputs; n += kRows)
    for (int part = 0; part < L::kParts; ++part) {
      const int block = L::output_block(n, part), row = L::output_row(n, part);
      Vector8 sum[kRows][kVectors];
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v)
          sum[r][v] = Vector8::load(d.x[n + r] + part * L::M + v * Vector8::kSize);
      for (int k = 0; k < L::K; ++k) {
        Vector8 right[kVectors];
        for (int v = 0; v < kVectors; ++v) right[v] = Vector8::load(b.x[block][k] + v * Vector8::kSize);
        for (int r = 0; r < kRows; ++r) {
          const Vector8 left = Vector8::all(a.x[block][k][row + r]);
          for (int v = 0; v < kVectors; ++v) sum[r][v].add_product(left, right[v]);
        }
      }
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) sum[r][v].store(d.x[n + r] + part * L::M + v * Vector8::kSize);
    }
}

template <class L>
void multiply_fast(Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b) {
  if constexpr (L::M >= 16)
    multiply_large(d, a, b);
  else
    multiply_small(d, a, b);
}

template <class L>
void multiply_exact(Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b, const Rounding& r) {
  const int group = std::min(r.group, L::K);
  for (int n = 0; n < L::kOutputs; ++n)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int part = lane / L::M, column = lane % L::M;
      const int block = L::output_block(n, part), row = L::output_row(n, part);
      float& sum = d.x[n][lane];
      for (int k = 0; k < L::K; k += group) {
        const float *x = &a.x[block][k][row], *y = &b.x[block][k][column];
        sum = r.kind == Rounding::pairwise
                  ? pairwise_dot_add(x, L::M, y, L::M, group, sum)
                  : fused_dot_add(x, L::M, y, L::M, group, r.a, r.b, sum, r.even_odd);
      }
    }
}

template <class L>
void multiply(const Wave& w, Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b,
              const Rounding& r) {
  if (w.exact && r.kind != Rounding::chain)
    multiply_exact(d, a, b, r);
  else
    multiply_fast(d, a, b);
}

}  // namespace cdna
