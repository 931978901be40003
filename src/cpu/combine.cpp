#include "meaning/combine.hpp"

#include <algorithm>

#include "base/convert.hpp"
#include "cpu/host_vector.hpp"
#include "cpu/pool.hpp"
#include "cpu/run.hpp"

namespace fw::cpu {
namespace {

using namespace host;

// A query and head of the result; `outer` is its sequence, 0 where all queries are in one row.
struct Place {
  i64 outer, query, head;
};

// Offset in (..., B,S,H,D) or (..., T,H,D), `lead` dimensions of which come first.
i64 row_offset(const View& view, int lead, Place at) {
  const i64 outer = view.rank - lead == 4 ? at.outer * view.stride[lead] : 0;
  return outer + at.query * view.stride[view.rank - 3] + at.head * view.stride[view.rank - 2];
}
// Offset in (..., B,H,S) or (..., H,T).
i64 value_offset(const View& view, int lead, Place at) {
  const i64 outer = view.rank - lead == 3 ? at.outer * view.stride[lead] : 0;
  return outer + at.head * view.stride[view.rank - 2] + at.query * view.stride[view.rank - 1];
}

void combine_row(const CombineCall& call, Place at) {
  const i64 partials = call.lses.shape[0], width = call.out.shape[call.out.rank - 1];
  const auto lse_of = [&](i64 n) {
    return Vec(
        static_cast<const float*>(call.lses.data)[n * call.lses.stride[0] + value_offset(call.lses, 1, at)]);
  };
  Row<Vec> row = fresh_row<Vec>();
  for (i64 n = 0; n < partials; ++n) merge(row, lse_of(n));
  const float sink = call.sink.given() ? load_float(call.sink.data, call.sink.dtype, at.head) : -infinity;
  const Vec lse = finish(row, Vec(sink), unit_of(1.0f)).lse;

  float sum[max_dim_v] = {};
  for (i64 n = 0; n < partials; ++n) {
    const float share = first_lane(partial_weight(lse_of(n), lse));
    if (share == 0) continue;  // whatever that partial's out holds
    const i64 offset = n * call.outs.stride[0] + row_offset(call.outs, 1, at);
    for (i64 d = 0; d < width; ++d) sum[d] += share * load_float(call.outs.data, call.outs.dtype, offset + d);
  }
  const i64 offset = row_offset(call.out, 0, at);
  for (i64 d = 0; d < width; ++d) store_float(call.out.data, call.out.dtype, offset + d, sum[d]);
  if (call.lse.given()) static_cast<float*>(call.lse.data)[value_offset(call.lse, 0, at)] = first_lane(lse);
}

}  // namespace

Status run_combine(const CombineCall& call) {
  if (call.out.empty()) return {};
  constexpr double elements_per_second = 5e8;
  constexpr i64 rows_a_task = 64;
  const int rank = call.out.rank;
  const i64 outer = rank == 4 ? call.out.shape[0] : 1, queries = call.out.shape[rank - 3],
            heads = call.out.shape[rank - 2];
  const i64 blocks = (queries + rows_a_task - 1) / rows_a_task;
  const auto tasks = static_cast<int>(outer * heads * blocks);
  const int team = team_for(tasks, static_cast<double>(call.outs.elements()) / elements_per_second);
  parallel_for(team, tasks, [&](int task, int) {
    const i64 first = task % blocks * rows_a_task, end = std::min(queries, first + rows_a_task);
    for (i64 query = first; query < end; ++query)
      combine_row(call, {task / blocks / heads, query, task / blocks % heads});
  });
  return {};
}

}  // namespace fw::cpu
