// Rows of out and lse that no query of a sequence owns: +0 and -inf.
#include "amd/kernels/row.hpp"

namespace fw::FLASHWAVE_TARGET {

// A row of q, and whether a sequence has it.
struct QueryRow {
  Sequence sequence;
  int query;
  bool owned;
};

FLASHWAVE_DEVICE QueryRow query_row(const amd::FillLaunch& l, i64 row) {
  const Args& a = l.args;
  if (!a.cu_seqlens_q) {
    const Sequence s = bounded_sequence(a, l.bounds, (int)(row / a.seq_q));
    const int query = (int)(row % a.seq_q);
    return {s, query, query < s.queries};
  }
  int first = 0, end = a.batch;  // the last sequence that starts at the row or before it
  while (end - first > 1) {
    const int middle = first + (end - first) / 2;
    (a.cu_seqlens_q[middle] <= row ? first : end) = middle;
  }
  const Sequence s = bounded_sequence(a, l.bounds, first);
  const i64 query = row - s.q_row;
  return {s, (int)query, query >= 0 && query < s.queries};
}

FLASHWAVE_DEVICE void fill(const amd::FillLaunch& l) {
  const Args& a = l.args;
  const QueryRow row = query_row(l, piece_number(l));
  if (row.owned) return;
  const i64 offset = query_offset(a.out, row.sequence, row.query, 0);
  for (int i = thread_id(); i < a.heads_q * a.dim_v; i += group_threads)
    set_value(a.out.data, a.element, offset + i / a.dim_v * a.out.head + i % a.dim_v, 0.0f);
  if (!a.lse.data) return;
  const i64 lse = query_offset(a.lse, row.sequence, row.query, 0);
  for (int head = thread_id(); head < a.heads_q; head += group_threads)
    set_value(a.lse.data, Element::fp32, lse + head * a.lse.head, -infinity);
}

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void FLASHWAVE_KERNEL(
    fw::amd::FillLaunch) {
  fw::FLASHWAVE_TARGET::fill(fw::FLASHWAVE_TARGET::arguments<fw::amd::FillLaunch>());
}
