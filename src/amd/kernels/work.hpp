// Which piece of an attention a workgroup does, and the rows of it that a wave owns.
#pragma once

#include "amd/kernels/lane.hpp"
#include "amd/kernels/launch.hpp"
#include "meaning/cut.hpp"
#include "meaning/heads.hpp"
#include "meaning/keys.hpp"

namespace fw::FLASHWAVE_TARGET {

using amd::AttentionLaunch;
using amd::Bounds;

struct Piece {
  int batch, kv_head, split, row_tile;
};

// Workgroups go to the dies in turn. Neighbouring pieces share keys, so each die gets a run of them: its
// cache then holds few heads' keys. Under a causal mask the longest rows of a head come first.
FLASHWAVE_DEVICE Piece piece_of(const AttentionLaunch& l) {
  const u32 number = (u32)l.first_work + __builtin_amdgcn_workgroup_id_x();
  const u32 dies = l.dies, work = (u32)l.work, die = number % dies;
  u32 n = number / dies + die * (work / dies) + least(die, work % dies);
  Piece p;
  p.row_tile = uniform(n % l.row_tiles);
  if (l.args.right >= 0) p.row_tile = l.row_tiles - 1 - p.row_tile;
  n /= l.row_tiles;
  p.split = uniform(n % l.splits);
  n /= l.splits;
  p.kv_head = uniform(n % l.args.heads_k);
  p.batch = uniform(n / l.args.heads_k);
  return p;
}

FLASHWAVE_DEVICE int clamp(i64 x, i64 low, i64 high) { return (int)least(most(x, low), high); }

// The sequence, its numbers bent to what memory there is.
FLASHWAVE_DEVICE Sequence bounded_sequence(const Args& a, const Bounds& bounds, int batch) {
  Sequence s = sequence_of(a, batch);
  s.queries = clamp(s.queries, 0, a.seq_q);
  if (a.cu_seqlens_q) {
    s.q_row = clamp(s.q_row, 0, bounds.rows_q);
    s.queries = clamp(s.queries, 0, bounds.rows_q - s.q_row);
  }
  i64 slots = a.seq_k;
  if (a.page_size) {
    slots = (i64)bounds.columns * a.page_size;
  } else if (a.cu_seqlens_k) {
    s.k_row = clamp(s.k_row, 0, bounds.rows_k);
    slots = bounds.rows_k - s.k_row;
  } else if (a.cache_batch_idx) {
    s.k_batch = clamp(s.k_batch, 0, most(bounds.cache_rows - 1, 0));
  }
  s.first_slot = clamp(s.first_slot, 0, slots);
  s.keys = clamp(s.keys, 0, slots - s.first_slot);
  constexpr int farthest = 1 << 30;
  s.mask.diagonal = clamp(s.mask.diagonal, -farthest, farthest);
  return s;
}

// Offset of a key's row of k or v.
FLASHWAVE_DEVICE i64 key_offset(const Args& a, const Tensor& t, const Sequence& s, int kv_head, int key) {
  i64 offset = 0;
  each_run(a, t, s, kv_head, {key, key + 1}, [&](int, int, i64 at) { offset = at; });
  return offset;
}

// The keys of one split of the sequence.
FLASHWAVE_DEVICE Range split_range(const AttentionLaunch& l, const Sequence& s, int split) {
  if (l.splits == 1) return {0, s.keys};
  const i64 rows = (i64)s.queries * (l.args.heads_q / l.args.heads_k);
  const Cut cut = cut_sequence(l.splits, l.split_keys, rows, s.keys);
  const i64 begin = split * cut.keys;
  return {(int)least<i64>(begin, s.keys), (int)least<i64>(begin + cut.keys, s.keys)};
}

// R groups of 16 packed rows; a lane has one row of each, as the columns of a matrix instruction.
template <int R>
struct WaveRows {
  int query[R], head[R];
  Range seen[R];
  float slope[R];  // ALiBi
  bool there[R];   // lanes without a row repeat the last one
  Range any, all;  // keys that some row, that every row sees

  FLASHWAVE_DEVICE WaveRows(const Args& a, const Sequence& s, int kv_head, int first, Range split) {
    const Pack pack = pack_of(a, kv_head);
    const int rows = s.queries * pack.group;
    FLASHWAVE_EACH(r, R) {
      const int row = first + 16 * r + lane_id() % 16;
      there[r] = row < rows;
      const int mine = least(row, rows - 1);
      query[r] = pack.query(mine);
      head[r] = pack.head(mine);
      seen[r] = intersect(visible(s.mask, query[r], s.keys), split);
      slope[r] = a.alibi ? a.alibi[s.batch * a.alibi_batch + head[r]] : 0.0f;
    }
    const int begin = pack.query(first), end = pack.query(least(first + 16 * R, rows) - 1);
    any = intersect(visible_to_any(s.mask, begin, end, s.keys), split);
    all = intersect(visible_to_all(s.mask, begin, end, s.keys), split);
    any = {uniform(any.begin), uniform(any.end)};
    all = {uniform(all.begin), uniform(all.end)};
  }
};

}  // namespace fw::FLASHWAVE_TARGET
