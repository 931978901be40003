// Queries, turned.
#include "amd/kernels/row.hpp"

namespace fw::FLASHWAVE_TARGET {

FLASHWAVE_DEVICE void rotate(const amd::RotateLaunch& l) {
  const Args& a = l.args;
  const i64 piece = piece_number(l);
  const int b = uniform(piece / a.seq_q), query = uniform(piece % a.seq_q);
  const Sequence s = bounded_sequence(a, l.bounds, b);
  if (query >= s.queries) return;
  const i64 position = clamp(rotary_position(l.rotary.start[b], query, l.masked), 0, l.bounds.positions - 1);
  const Rows queries{l.to,      a.q,     query_offset(l.to, s, query, 0), query_offset(a.q, s, query, 0),
                     a.heads_q, a.dim_qk};
  turn_rows(queries, a.element, l.rotary, l.rotary.dim, position);
}

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void FLASHWAVE_KERNEL(
    fw::amd::RotateLaunch) {
  fw::FLASHWAVE_TARGET::rotate(fw::FLASHWAVE_TARGET::arguments<fw::amd::RotateLaunch>());
}
