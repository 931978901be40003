// D = A B + C on unpacked matrices, fast or exact.
#pragma once
#include "mfma/exact.hpp"
#include "mfma/operands.hpp"

namespace cdna {

// How exact sums are grouped, by generation and input.
struct Rounding {
  enum Kind : uint8_t { chain, fused, pairwise } kind;
  int group;
  int fraction_a, fraction_b;
  bool even_odd;
};

// One fp32 fused multiply-add a product, k upwards.
template <class L>
void multiply_fast(Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b) {
  for (int n = 0; n < L::kOutputs; ++n)
    for (int part = 0; part < L::kParts; ++part) {
      const int block = L::output_block(n, part), row = L::output_row(n, part);
      float* out = d.x[n] + part * L::M;
      alignas(64) float sum[L::M];
      for (int l = 0; l < L::M; ++l) sum[l] = out[l];
      for (int k = 0; k < L::K; ++k) {
        const float x = a.x[block][k][row];
        for (int l = 0; l < L::M; ++l) sum[l] = __builtin_fmaf(x, b.x[block][k][l], sum[l]);
      }
      for (int l = 0; l < L::M; ++l) out[l] = sum[l];
    }
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
                  : fused_dot_add(x, L::M, y, L::M, group, r.fraction_a, r.fraction_b, sum, r.even_odd);
      }
    }
}

template <class L>
void multiply(const Wave& w, Accumulators<L>& d, const InputMatrix<L>& a, const InputMatrix<L>& b, const Rounding& r) {
  if (w.exact && r.kind != Rounding::chain) multiply_exact(d, a, b, r);
  else multiply_fast(d, a, b);
}

}  // namespace cdna
