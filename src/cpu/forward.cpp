#include <algorithm>
#include <cmath>

#include "cpu/append.hpp"
#include "cpu/args.hpp"
#include "cpu/fill.hpp"
#include "cpu/pool.hpp"
#include "cpu/run.hpp"
#include "cpu/tasks.hpp"
#include "cpu/working_set.hpp"

namespace fw::cpu {
namespace {

std::int64_t rotated_rows(const Problem& p, const Call& call) {
  if (p.rotary.dim == 0) return 0;
  return std::min(call.q.elements() / p.dim_qk, p.batch * p.seq_q * p.heads_q);
}

// Some rows of out belong to no query that counts.
bool has_idle_rows(const Problem& p, const Call& call) {
  if (p.seqused_q) return true;
  if (!call.cu_seqlens_q.given()) return false;
  return static_cast<const std::int32_t*>(call.cu_seqlens_q.data)[p.batch] != call.q.shape[0];
}

}  // namespace

Status run_forward(const Kernels& kernels, const Plan& plan, const Call& call, double seconds) {
  const Problem& p = plan.problem;
  HostArgs prepared = host_args(p, call);
  Args& args = prepared.args;
  WorkingSet memory;
  FW_TRY(memory.take(p, call, {.partials = partial_rows(args, plan), .queries = rotated_rows(p, call)}));
  const ForwardTasks work = forward_tasks(args, plan, memory.partial_out(), memory.partial_lse());
  const auto tasks = static_cast<int>(work.tasks.size()), merges = static_cast<int>(work.merges.size());
  const int team = team_for(tasks, seconds);
  FW_TRY(memory.take_scratch(team, kernels.forward_scratch(args)));

  append_keys(p, call, args);
  rotate_queries(p, call, memory.query(), args);
  if (has_idle_rows(p, call)) {
    fill_zero(call.out);
    fill_value(call.lse, -INFINITY);
  }
  parallel_for(team, tasks, [&](int i, int worker) {
    kernels.forward(args, work.tasks[static_cast<std::size_t>(i)], memory.scratch(worker));
  });
  parallel_for(std::min(team, merges), merges, [&](int i, int) {
    const Merge& m = work.merges[static_cast<std::size_t>(i)];
    kernels.combine(args, m.rows, m.outs, m.lses, m.partials, m.stride_out, m.stride_lse);
  });
  if (p.want_mask) write_dropout_mask(args);
  return {};
}

}  // namespace fw::cpu
