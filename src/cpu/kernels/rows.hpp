// Small passes over rows that stand before and behind backward's products.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/operand.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::RowTask;

// out . dout of each of up to `lanes` rows, summed in the very order and arithmetic of dP = dout * v
// (product.hpp): where a row has all its weight on one key, out is that key's v, and dP - delta is exactly 0.
template <class E, class P>
FLASHWAVE_RULE void multiply_rows(float* sums, const void* const* out, const void* const* dout, int count,
                                  int dim) {
  using Units = typename P::Unit;
  Units outs[widest_v * lanes], dout_columns[widest_v * lanes];
  float staging[lanes * (widest_v + 16)];
  transpose_rows<E, P, lanes>(dout_columns, dout, count, dim, false, staging);
  if constexpr (Tiled<P>) {  // a tile of every row by every other, of which the diagonal is wanted
    const Units* rows[lanes];
    float products[lanes * lanes];
    point_to_rows<E, P>(rows, outs, out, count, dim);
    product<P, 1, Before::nothing>(products, lanes, count, AlongRows<Units>{rows}, dout_columns, lanes,
                                   units<P>(dim));
    for (int r = 0; r < count; ++r) sums[r] = products[r * lanes + r];
  } else {
    transpose_rows<E, P, lanes>(outs, out, count, dim, false, staging);
    Vec sum = Vec(0.0f);
    for (int k = 0; k < units<P>(dim); ++k)
      sum = P::step(sum, P::right(outs + k * lanes), P::right(dout_columns + k * lanes));
    store(sums, sum);
  }
}

// delta = rowsum(out * dout) - dlse, of the task's packed rows.
template <class E, class P>
void delta(const Args& a, const RowTask& task, float* delta) {
  const Sequence s = sequence_of(a, task.batch);
  const Pack pack = pack_of(a, task.kv_head);
  for (int first = 0; first < task.row_count; first += lanes) {
    const int count = least(lanes, task.row_count - first);
    const void *out[lanes], *dout[lanes];
    float dlse[lanes] = {}, sums[lanes];
    for (int r = 0; r < count; ++r) {
      const int query = pack.query(task.row_begin + first + r), head = pack.head(task.row_begin + first + r);
      out[r] = (const typename E::Stored*)a.out.data + query_offset(a.out, s, query, head);
      dout[r] = (const typename E::Stored*)a.dout.data + query_offset(a.dout, s, query, head);
      if (a.dlse.data) dlse[r] = ((const float*)a.dlse.data)[query_offset(a.dlse, s, query, head)];
    }
    multiply_rows<E, P>(sums, out, dout, count, a.dim_v);
    for (int r = 0; r < count; ++r) delta[first + r] = sums[r] - dlse[r];
  }
}

// dq = the shares of all key ranges, added in order and rounded once.
template <class E>
void reduce_dq(const Args& a, const RowTask& task, const float* shares, int count, i64 stride) {
  const Sequence s = sequence_of(a, task.batch);
  const Pack pack = pack_of(a, task.kv_head);
  float sum[widest_qk];
  for (int r = 0; r < task.row_count; ++r) {
    const int query = pack.query(task.row_begin + r), head = pack.head(task.row_begin + r);
    const float* share = shares + (i64)(task.row_begin + r) * a.dim_qk;
    for (int d = 0; d < a.dim_qk; ++d) sum[d] = share[d];
    for (int i = 1; i < count; ++i)
      for (int d = 0; d < a.dim_qk; ++d) sum[d] += share[i * stride + d];
    narrow_row<E>((typename E::Stored*)a.dq.data + query_offset(a.dq, s, query, head), sum, a.dim_qk);
  }
}

}  // namespace fw::FLASHWAVE_TARGET
