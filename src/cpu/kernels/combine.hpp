// Merges the partial rows of splits: meaning/combine.hpp on vectors of rows.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/element.hpp"
#include "meaning/combine.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using cpu::RowTask;

// lse of up to `lanes` rows of one partial; rows that are not there weigh nothing.
FLASHWAVE_RULE Vec load_lses(const float* lses, int count) {
  float lse[lanes];
  for (int r = 0; r < lanes; ++r) lse[r] = r < count ? lses[r] : -infinity;
  return load(lse);
}

template <class E>
void combine(const Args& a, const RowTask& task, const float* outs, const float* lses, int partials,
             i64 stride_out, i64 stride_lse) {
  const Sequence s = sequence_of(a, task.batch);
  const Pack pack = pack_of(a, task.kv_head);
  for (int first = 0; first < task.row_count; first += lanes) {
    const int count = least(lanes, task.row_count - first);
    float sink[lanes], weights[lanes], lse[lanes];
    for (int r = 0; r < lanes; ++r)
      sink[r] = a.sink && r < count ? value_at(a.sink, a.sink_element, pack.head(task.row_begin + first + r))
                                    : -infinity;

    Row<Vec> row = fresh_row<Vec>();
    for (int i = 0; i < partials; ++i) merge(row, load_lses(lses + i * stride_lse + first, count));
    const Vec total_lse = finish(row, load(sink), unit_of(1.0f)).lse;
    store(lse, total_lse);

    float sum[lanes][widest_v];
    for (int r = 0; r < count; ++r)
      for (int d = 0; d < a.dim_v; ++d) sum[r][d] = 0;
    for (int i = 0; i < partials; ++i) {
      store(weights, partial_weight(load_lses(lses + i * stride_lse + first, count), total_lse));
      for (int r = 0; r < count; ++r) {
        if (weights[r] == 0) continue;  // its out may be anything
        const float* out = outs + i * stride_out + (i64)(first + r) * a.dim_v;
        for (int d = 0; d < a.dim_v; ++d) sum[r][d] += weights[r] * out[d];
      }
    }
    for (int r = 0; r < count; ++r) {
      const int query = pack.query(task.row_begin + first + r), head = pack.head(task.row_begin + first + r);
      narrow_row<E>((typename E::Stored*)a.out.data + query_offset(a.out, s, query, head), sum[r], a.dim_v);
      if (a.lse.data) ((float*)a.lse.data)[query_offset(a.lse, s, query, head)] = lse[r];
    }
  }
}

}  // namespace fw::FLASHWAVE_TARGET
