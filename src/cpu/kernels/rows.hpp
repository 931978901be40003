// Small passes over rows that stand before and behind backward's products.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/operand.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::RowTask;

// delta = rowsum(out * dout) - dlse, of the task's packed rows.
//
// Summed in the very order and arithmetic of dP = dout * v (product.hpp): where a row has all its weight on
// one key, out is that key's v, and dP - delta is exactly 0.
template <class E, class P>
void delta(const Args& a, const RowTask& task, float* delta) {
  const Sequence s = sequence_of(a, task.batch);
  const Pack pack = pack_of(a, task.kv_head);
  typename P::Unit out_columns[widest_v * lanes], dout_columns[widest_v * lanes];
  float staging[lanes * (widest_v + 16)];
  for (int first = 0; first < task.row_count; first += lanes) {
    const int count = least(lanes, task.row_count - first);
    const void *out[lanes], *dout[lanes];
    float dlse[lanes] = {};
    for (int r = 0; r < count; ++r) {
      const int query = pack.query(task.row_begin + first + r), head = pack.head(task.row_begin + first + r);
      out[r] = (const typename E::Stored*)a.out.data + query_offset(a.out, s, query, head);
      dout[r] = (const typename E::Stored*)a.dout.data + query_offset(a.dout, s, query, head);
      if (a.dlse.data) dlse[r] = ((const float*)a.dlse.data)[query_offset(a.dlse, s, query, head)];
    }
    transpose_rows<E, P, lanes>(out_columns, out, count, a.dim_v, false, staging);
    transpose_rows<E, P, lanes>(dout_columns, dout, count, a.dim_v, false, staging);
    Vec sum = Vec(0.0f);
    for (int k = 0; k < units<P>(a.dim_v); ++k)
      sum = P::step(sum, P::right(out_columns + k * lanes), P::right(dout_columns + k * lanes));
    float deltas[lanes];
    store(deltas, sum);
    for (int r = 0; r < count; ++r) delta[first + r] = deltas[r] - dlse[r];
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
