// Partial results over disjoint keys become one: a wave a row, a lane every 64th element of it.
#include "amd/kernels/row.hpp"
#include "meaning/combine.hpp"

namespace fw::FLASHWAVE_TARGET {

FLASHWAVE_DEVICE void combine(const amd::CombineLaunch& l) {
  const Args& a = l.args;
  const i64 row = piece_number(l) * (group_threads / lanes) + uniform(thread_id() / lanes);
  const i64 outer = row / a.heads_q;
  const int head = uniform(row % a.heads_q), query = uniform(outer % a.seq_q), b = uniform(outer / a.seq_q);
  if (b >= a.batch) return;
  const Sequence s = bounded_sequence(a, l.bounds, b);
  if (query >= s.queries) return;

  const i64 lse_at = b * l.lses.batch + query * l.lses.row + head * l.lses.head;
  const auto lse_of = [&](int n) {
    return Lane(value_at(l.lses.data, Element::fp32, n * l.lses_partial + lse_at));
  };
  Row<Lane> merged = fresh_row<Lane>();
  for (int n = 0; n < l.partials; ++n) merge(merged, lse_of(n));
  const float sink = a.sink ? value_at(a.sink, a.sink_element, head) : -infinity;
  const Lane lse = finish(merged, Lane(sink), unit_of(1.0f)).lse;

  constexpr int shares = widest_v / lanes;
  float sum[shares] = {};
  for (int n = 0; n < l.partials; ++n) {
    const float weight = partial_weight(lse_of(n), lse).x;
    if (weight == 0) continue;  // whatever that partial's out holds
    const i64 at = n * l.outs_partial + b * l.outs.batch + query * l.outs.row + head * l.outs.head;
    FLASHWAVE_EACH(i, shares) {
      const int d = i * lanes + lane_id();
      if (d < a.dim_v) sum[i] += weight * value_at(l.outs.data, l.outs_element, at + d);
    }
  }
  const i64 to = query_offset(a.out, s, query, head);
  FLASHWAVE_EACH(i, shares) {
    const int d = i * lanes + lane_id();
    if (d < a.dim_v) set_value(a.out.data, a.element, to + d, sum[i]);
  }
  if (a.lse.data && lane_id() == 0)
    set_value(a.lse.data, Element::fp32, query_offset(a.lse, s, query, head), lse.x);
}

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void FLASHWAVE_KERNEL(
    fw::amd::CombineLaunch) {
  fw::FLASHWAVE_TARGET::combine(fw::FLASHWAVE_TARGET::arguments<fw::amd::CombineLaunch>());
}
