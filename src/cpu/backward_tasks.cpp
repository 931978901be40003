#include <algorithm>

#include "cpu/tasks.hpp"
#include "meaning/keys.hpp"
#include "plan/splits.hpp"

namespace fw::cpu {
namespace {

constexpr int block_rows = 256;  // of tasks that only stream rows

struct Head {
  host::Sequence sequence;
  int rows;
  Cut cut;
};

Head head_of(const Args& args, const Plan& plan, int batch) {
  const host::Sequence sequence = host::sequence_of(args, batch);
  const int rows = sequence.queries * (args.heads_q / args.heads_k);
  return {sequence, rows,
          rows == 0 || sequence.keys == 0 ? Cut{0, 0} : cut_chunks(plan.chunks, sequence.keys)};
}

// Queries that see the middle key of a range: what its work is proportional to.
i64 queries_seeing(const host::Sequence& s, host::Range keys) {
  const i64 key = (i64{keys.begin} + keys.end) / 2;
  const i64 first = s.mask.right < 0 ? 0 : key - s.mask.right - s.mask.diagonal;
  const i64 last = s.mask.left < 0 ? s.queries - 1 : key + s.mask.left - s.mask.diagonal;
  return std::max<i64>(0, std::min<i64>(last, s.queries - 1) - std::max<i64>(first, 0) + 1);
}

void add_ranges(BackwardTasks& result, const Args& args, const Head& head, int kv_head, const float* delta,
                float* shares) {
  const int batch = head.sequence.batch;
  const auto first = static_cast<std::ptrdiff_t>(result.ranges.size());
  for (int range = 0; range < head.cut.ranges; ++range) {
    const auto begin = static_cast<int>(range * head.cut.keys);
    const auto end = static_cast<int>(std::min<i64>(head.sequence.keys, begin + head.cut.keys));
    result.ranges.push_back(
        {batch, kv_head, begin, end, delta, shares + i64{range} * head.rows * args.dim_qk});
    result.widest = std::max(result.widest, end - begin);
  }
  std::stable_sort(result.ranges.begin() + first, result.ranges.end(),
                   [&](const BackwardTask& a, const BackwardTask& b) {
                     return queries_seeing(head.sequence, {a.key_begin, a.key_end}) >
                            queries_seeing(head.sequence, {b.key_begin, b.key_end});
                   });
}

}  // namespace

i64 share_rows(const Args& args, const Plan& plan) {
  i64 rows = 0;
  for (int b = 0; b < args.batch && args.heads_k > 0; ++b) {
    const Head head = head_of(args, plan, b);
    rows += i64{head.rows} * head.cut.ranges * args.heads_k;
  }
  return rows;
}

BackwardTasks backward_tasks(const Args& args, const Plan& plan, const float* delta, float* shares) {
  BackwardTasks result;
  for (int b = 0; b < args.batch && args.heads_k > 0; ++b) {
    const Head head = head_of(args, plan, b);
    const i64 share = i64{head.rows} * args.dim_qk;
    for (int kv_head = 0; kv_head < args.heads_k; ++kv_head) {
      for (int row = 0; row < head.rows; row += block_rows) {
        const RowTask rows{b, kv_head, row, std::min(block_rows, head.rows - row)};
        result.rows.push_back(rows);
        if (head.cut.ranges > 0) result.reduces.push_back({rows, shares, head.cut.ranges, share});
      }
      add_ranges(result, args, head, kv_head, delta + delta_index(args, b, kv_head), shares);
      shares += share * head.cut.ranges;
    }
  }
  return result;
}

std::vector<BiasTask> bias_tasks(const Args& args, const Problem& p, const float* delta) {
  constexpr int most_rows = 64, most_keys = 512;
  std::vector<BiasTask> tasks;
  if (args.heads_q == 0) return tasks;
  const int batches = p.bias.batch ? args.batch : 1, heads = p.bias.head ? args.heads_q : 1;
  const int rows = p.bias.query ? most_rows : args.seq_q;
  for (int b = 0; b < batches; ++b)
    for (int h = 0; h < heads; ++h)
      for (int row = 0; row < args.seq_q; row += rows)
        for (int key = 0; key < args.seq_k; key += most_keys)
          tasks.push_back({b, h, row, std::min(rows, args.seq_q - row), key,
                           std::min(args.seq_k, key + most_keys), delta, delta_index(args, 1, 0),
                           delta_index(args, 0, 1)});
  return tasks;
}

}  // namespace fw::cpu
