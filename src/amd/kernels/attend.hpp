// A wave's part of an attention kernel: its rows opened, attended tile by tile, and closed.
#pragma once

#include "amd/kernels/attention.hpp"
#include "amd/kernels/output.hpp"

namespace fw::FLASHWAVE_TARGET {

template <class S>
FLASHWAVE_DEVICE void open_rows(AttentionMachine<S>& m, const AttentionLaunch& l, bool negate) {
  using E = typename S::E;
  const Reading reading = reading_of(l.aligned & amd::aligned_q, l.args.dim_qk, S::qk);
  FLASHWAVE_EACH(r, S::row_groups) {
    const i64 offset = query_offset(l.args.q, m.sequence, m.rows.query[r], m.rows.head[r]);
    read_units<E>(m.q[r], row_at<E>(l.args.q.data, offset), lane_id() / 16 * E::unit, 4 * E::unit,
                  l.args.dim_qk, reading);
    if (negate) FLASHWAVE_EACH(u, S::units_q) m.q[r][u] ^= E::sign;
    m.row[r] = fresh_row<Lane>();
    FLASHWAVE_EACH(c, S::columns) m.out[r][c] = f32x4(0.0f);
  }
}

// Divides by the sum and writes out and lse: those of the call, or a split's share of them.
template <class S>
FLASHWAVE_DEVICE void close_rows(const AttentionMachine<S>& m, const AttentionLaunch& l, int split) {
  const Args& a = l.args;
  FLASHWAVE_EACH(r, S::row_groups) {
    const int query = m.rows.query[r], head = m.rows.head[r];
    Row<Lane> row = m.row[r];
    row.sum.x = row_sum(row.sum.x);
    const Total<Lane> total = finish(row, Lane(sink_of(l, head)), m.unit);
    const float scale = total.scale.x * kept_scale(a);
    if (!m.rows.there[r]) continue;
    const OutputRow to = output_row(l, m.sequence, split, query, head);
    if (lane_id() < 16) write_lse(to, total.lse.x);
    FLASHWAVE_EACH(block, S::columns / S::width)
    FLASHWAVE_EACH(g, 4) {
      float x[S::width];
      FLASHWAVE_EACH(c, S::width) x[c] = output_value(m.out[r][block * S::width + c][g], scale);
      write_values<typename S::E>(to, (16 * block + lane_id() / 16 * 4 + g) * S::width, x);
    }
  }
}

template <class S>
FLASHWAVE_DEVICE void attend_all(AttentionMachine<S>& m) {
  if (m.rows.any.empty()) return;
  const int end = (m.sequence.first_slot + m.rows.any.end + S::keys - 1) / S::keys;
  for (int tile = (m.sequence.first_slot + m.rows.any.begin) / S::keys; tile < end; ++tile)
    attend_tile(m, tile);
}

template <class S>
FLASHWAVE_DEVICE void attention() {
  const auto& l = arguments<AttentionLaunch>();
  const Args& a = l.args;
  const Piece piece = piece_of(l);
  const Sequence sequence = bounded_sequence(a, l.bounds, piece.batch);
  const int wave = uniform(__builtin_amdgcn_workitem_id_x() / lanes);
  constexpr int wave_rows = 16 * S::row_groups;
  const int first_row = (piece.row_tile * S::waves + wave) * wave_rows;
  if (first_row >= sequence.queries * (a.heads_q / a.heads_k)) return;

  // Where no step needs scores as they are, the scale is left to the softmax, as their unit; its sign goes
  // into q.
  const bool scaled = S::scored && needs_scale(a), negate = !scaled && a.scale < 0;
  AttentionMachine<S> machine{
      .a = arguments<AttentionLaunch>().args,
      .sequence = sequence,
      .rows = {a, sequence, piece.kv_head, first_row, split_range(l, sequence, piece.split)},
      .kv_head = piece.kv_head,
      .unit = unit_of(scaled   ? 1.0f
                      : negate ? -a.scale
                               : a.scale),
      .rows_k = {a, a.k, sequence, piece.kv_head},
      .rows_v = {a, a.v, sequence, piece.kv_head},
      .reading_k = reading_of(l.aligned & amd::aligned_k, a.dim_qk, S::qk),
      .reading_v = reading_of(l.aligned & amd::aligned_v, a.dim_v, S::v),
      .q = {},
      .row = {},
      .out = {}};
  if (!scaled) FLASHWAVE_EACH(r, S::row_groups) machine.rows.slope[r] /= machine.unit.natural;
  open_rows(machine, l, negate);
  attend_all(machine);
  close_rows(machine, arguments<AttentionLaunch>(), piece.split);
}

}  // namespace fw::FLASHWAVE_TARGET
