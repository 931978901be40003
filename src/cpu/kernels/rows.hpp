// Small passes over rows that stand before and behind backward's products.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/element.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::RowTask;

FLASHWAVE_RULE float sum_of_lanes(Vec x) {
  float value[lanes];
  store(value, x);
  float sum = 0;
  for (float v : value) sum += v;
  return sum;
}

// delta = rowsum(out * dout) - dlse, of the task's packed rows.
template <class E>
void delta(const Args& a, const RowTask& task, float* delta) {
  const Sequence s = sequence_of(a, task.batch);
  const Pack pack = pack_of(a, task.kv_head);
  float out[widest_v], dout[widest_v];
  for (int r = 0; r < task.row_count; ++r) {
    const int query = pack.query(task.row_begin + r), head = pack.head(task.row_begin + r);
    widen_row<E>(out, (const typename E::Stored*)a.out.data + query_offset(a.out, s, query, head), a.dim_v);
    widen_row<E>(dout, (const typename E::Stored*)a.dout.data + query_offset(a.dout, s, query, head),
                 a.dim_v);
    Vec sums = Vec(0.0f);
    int d = 0;
    for (; d + lanes <= a.dim_v; d += lanes) sums = multiply_add(load(out + d), load(dout + d), sums);
    float sum = sum_of_lanes(sums);
    for (; d < a.dim_v; ++d) sum += out[d] * dout[d];
    delta[r] = sum - (a.dlse.data ? ((const float*)a.dlse.data)[query_offset(a.dlse, s, query, head)] : 0.0f);
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
