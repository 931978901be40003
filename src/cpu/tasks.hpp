// The pieces of a call that threads work on, in the order in which they are handed out: all of one kv head,
// longest first, then the next. Which pieces there are depends on the Plan and on the lengths, never on
// threads.
#pragma once

#include <vector>

#include "cpu/kernels.hpp"
#include "plan/plan.hpp"

namespace fw::cpu {

// Rows of a forward task: the kernels' own number, or fewer where that leaves too few tasks.
int rows_of_task(const Problem& problem, int most);

// Partial results of some rows, `partials` of them so many floats apart.
struct Merge {
  RowTask rows;
  const float *outs, *lses;
  int partials;
  i64 stride_out, stride_lse;
};

struct ForwardTasks {
  std::vector<ForwardTask> tasks;
  std::vector<Merge> merges;
};
i64 partial_rows(const Args& args, const Plan& plan);
// Partials that see no key get lse -inf at once instead of a task.
ForwardTasks forward_tasks(const Args& args, const Plan& plan, float* partial_out, float* partial_lse);

// Shares of dq of some rows, `count` of them so many floats apart.
struct Reduce {
  RowTask rows;
  const float* shares;
  int count;
  i64 stride;
};

struct BackwardTasks {
  std::vector<RowTask> rows;
  std::vector<BackwardTask> ranges;
  std::vector<Reduce> reduces;
  int widest = 0;  // keys of the widest range
};
i64 share_rows(const Args& args, const Plan& plan);
BackwardTasks backward_tasks(const Args& args, const Plan& plan, const float* delta, float* shares);

// Where the deltas of a kv head begin; all have room for the longest sequence.
inline i64 delta_index(const Args& args, int batch, int kv_head) {
  const i64 rows = static_cast<i64>(args.seq_q) * (args.heads_q / args.heads_k);
  return (static_cast<i64>(batch) * args.heads_k + kv_head) * rows;
}

std::vector<BiasTask> bias_tasks(const Args& args, const Problem& problem, const float* delta);

}  // namespace fw::cpu
