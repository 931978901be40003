#include <algorithm>
#include <cmath>

#include "cpu/tasks.hpp"
#include "meaning/keys.hpp"
#include "plan/splits.hpp"

namespace fw::cpu {
namespace {

constexpr int merged_rows = 256;

// The rows of a kv head and how its keys are cut; alike for all kv heads of a sequence.
struct Head {
  host::Sequence sequence;
  int group;
  int rows;
  Cut cut;
  i64 partial_rows() const { return cut.ranges > 1 ? static_cast<i64>(rows) * cut.ranges : 0; }
};

Head head_of(const Args& args, const Plan& plan, int batch) {
  const host::Sequence sequence = host::sequence_of(args, batch);
  const int group = args.heads_q / args.heads_k, rows = sequence.queries * group;
  return {sequence, group, rows, cut_sequence(plan.splits, plan.split_keys, rows, sequence.keys)};
}

// A block of rows against a range of keys.
struct Piece {
  int row_begin, row_count, key_begin, key_end, range;
  i64 pairs;  // that it may look at
};

std::vector<Piece> pieces_of(const Head& head, int tile_rows) {
  std::vector<Piece> pieces;
  const host::Sequence& s = head.sequence;
  for (int row = 0; row < head.rows; row += tile_rows) {
    const int count = std::min(tile_rows, head.rows - row);
    const host::Range seen =
        host::visible_to_any(s.mask, row / head.group, (row + count - 1) / head.group, s.keys);
    for (int range = 0; range < head.cut.ranges; ++range) {
      const i64 begin = range * head.cut.keys, end = std::min<i64>(s.keys, begin + head.cut.keys);
      const host::Range keys{static_cast<int>(begin), static_cast<int>(end)};
      pieces.push_back(
          {row, count, keys.begin, keys.end, range, i64{count} * host::intersect(seen, keys).count()});
    }
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.pairs > b.pairs; });
  return pieces;
}

// The partials of one kv head: (ranges, rows, Dv) and (ranges, rows).
void add_split(ForwardTasks& result, const Args& args, const Head& head, int kv_head,
               const std::vector<Piece>& pieces, float* out, float* lse) {
  const int batch = head.sequence.batch;
  for (const Piece& piece : pieces) {
    const i64 row = i64{piece.range} * head.rows + piece.row_begin;
    if (piece.pairs == 0)
      std::fill_n(lse + row, piece.row_count, -INFINITY);
    else
      result.tasks.push_back({batch, kv_head, piece.row_begin, piece.row_count, piece.key_begin,
                              piece.key_end, out + row * args.dim_v, lse + row});
  }
  for (int row = 0; row < head.rows; row += merged_rows)
    result.merges.push_back({{batch, kv_head, row, std::min(merged_rows, head.rows - row)},
                             out + i64{row} * args.dim_v,
                             lse + row,
                             head.cut.ranges,
                             i64{head.rows} * args.dim_v,
                             head.rows});
}

}  // namespace

int rows_of_task(const Problem& p, int most) {
  constexpr std::int64_t enough_tasks = 64;
  constexpr int least = 64;  // one panel of the widest vectors
  const std::int64_t rows = p.seq_q * p.group(), heads = p.heads_k * (p.deterministic ? 1 : p.batch);
  int tile = most;
  while (tile > least && heads * ((rows + tile - 1) / tile) < enough_tasks) tile = std::max(least, tile / 2);
  return tile;
}

i64 partial_rows(const Args& args, const Plan& plan) {
  i64 rows = 0;
  if (args.heads_k > 0 && plan.splits > 1)
    for (int b = 0; b < args.batch; ++b) rows += head_of(args, plan, b).partial_rows() * args.heads_k;
  return rows;
}

ForwardTasks forward_tasks(const Args& args, const Plan& plan, float* partial_out, float* partial_lse) {
  ForwardTasks result;
  for (int b = 0; b < args.batch && args.heads_k > 0; ++b) {
    const Head head = head_of(args, plan, b);
    const auto pieces = pieces_of(head, plan.tile_q);
    for (int kv_head = 0; kv_head < args.heads_k; ++kv_head) {
      if (head.cut.ranges > 1) {
        add_split(result, args, head, kv_head, pieces, partial_out, partial_lse);
        partial_out += head.partial_rows() * args.dim_v;
        partial_lse += head.partial_rows();
        continue;
      }
      for (const Piece& piece : pieces)
        result.tasks.push_back(
            {b, kv_head, piece.row_begin, piece.row_count, piece.key_begin, piece.key_end, nullptr, nullptr});
    }
  }
  return result;
}

}  // namespace fw::cpu
