#include <algorithm>
#include <vector>

#include "base/convert.hpp"
#include "base/text.hpp"
#include "cpu/args.hpp"
#include "cpu/fill.hpp"
#include "cpu/host_vector.hpp"
#include "cpu/pool.hpp"
#include "cpu/run.hpp"
#include "cpu/tasks.hpp"
#include "cpu/working_set.hpp"
#include "meaning/keys.hpp"
#include "meaning/softmax.hpp"

namespace fw::cpu {
namespace {

// The pages of two sequences' keys must be different ones: each key's gradient is written once, by one task.
Status check_pages(const Args& args, const Call& call) {
  if (args.page_size == 0) return {};
  std::vector<int> owner(static_cast<std::size_t>(call.k.shape[0]), -1);
  for (int b = 0; b < args.batch; ++b) {
    const int slots = host::sequence_of(args, b).keys;
    for (int column = 0; i64{column} * args.page_size < slots; ++column) {
      const int page = args.block_table[b * args.block_table_stride + column];
      int& used = owner[static_cast<std::size_t>(page)];
      if (used >= 0)
        return unsupported(say("block_table names page ", page, " for sequence ", used,
                               " and again for sequence ", b,
                               "; backward on the cpu needs pages that no other keys share"));
      used = b;
    }
  }
  return {};
}

// Whether dq, and dk and dv, have rows that no task writes.
struct Idle {
  bool queries, keys;
};

Idle idle_rows(const Args& args, const Call& call) {
  i64 queries = 0, keys = 0;
  for (int b = 0; b < args.batch; ++b) {
    const host::Sequence s = host::sequence_of(args, b);
    if (s.keys > 0) queries += s.queries;
    if (s.queries > 0 && args.heads_q > 0) keys += s.keys;
  }
  const auto rows = [](const View& view) {
    return view.rank == 3 ? view.shape[0] : view.shape[0] * view.shape[1];
  };
  return {queries != rows(call.q), keys != rows(call.k)};
}

// sum over rows of exp(sink - lse) (dlse - rowsum(out dout)), in the order of batch and query.
float sink_gradient(const Args& args, const float* delta, int head, float sink) {
  using namespace host;
  const int group = args.heads_q / args.heads_k, kv_head = head / group;
  double sum = 0;
  for (int b = 0; b < args.batch; ++b) {
    const Sequence s = sequence_of(args, b);
    const float* const deltas = delta + delta_index(args, b, kv_head);
    for (int query = 0; query < s.queries; ++query) {
      const float lse = static_cast<const float*>(args.lse.data)[query_offset(args.lse, s, query, head)];
      const float share = first_lane(probability(Vec(sink), Vec(lse), unit_of(1.0f)));
      sum -= double{share} * double{deltas[i64{query} * group + head % group]};
    }
  }
  return static_cast<float>(sum);
}

void write_dsink(const Args& args, const Call& call, const float* delta, double seconds) {
  parallel_for(team_for(args.heads_q, seconds), args.heads_q, [&](int head, int) {
    const float sink = load_float(call.sink.data, call.sink.dtype, head);
    store_float(call.dsink.data, call.dsink.dtype, head, sink_gradient(args, delta, head, sink));
  });
}

}  // namespace

std::size_t backward_scratch(const Kernels& kernels, const Args& args, int keys) {
  return std::max(kernels.backward_scratch(args, keys),
                  args.dbias != nullptr ? kernels.bias_scratch(args) : 0);
}

Status run_backward(const Kernels& kernels, const Plan& plan, const Call& call, double seconds) {
  const Problem& p = plan.problem;
  const HostArgs prepared = host_args(p, call);
  const Args& args = prepared.args;
  FW_TRY(check_pages(args, call));
  WorkingSet memory;
  FW_TRY(memory.take(p, call, {.deltas = p.batch * p.heads_q * p.seq_q, .shares = share_rows(args, plan)}));
  const BackwardTasks work = backward_tasks(args, plan, memory.delta(), memory.dq());
  const auto bias = p.want_dbias ? bias_tasks(args, p, memory.delta()) : std::vector<BiasTask>();
  const auto rows = static_cast<int>(work.rows.size()), ranges = static_cast<int>(work.ranges.size()),
             reduces = static_cast<int>(work.reduces.size());
  const auto slices = static_cast<int>(bias.size());
  const int team = team_for(std::max({rows, ranges, slices}), seconds);
  FW_TRY(memory.take_scratch(team, backward_scratch(kernels, args, work.widest)));

  const Idle idle = idle_rows(args, call);
  if (idle.queries) fill_zero(call.dq);
  if (slices == 0) fill_zero(call.dbias);
  if (idle.keys) {
    fill_zero(call.dk);
    fill_zero(call.dv);
  }
  parallel_for(team, rows, [&](int i, int) {
    const RowTask& task = work.rows[static_cast<std::size_t>(i)];
    kernels.delta(args, task, memory.delta() + delta_index(args, task.batch, task.kv_head) + task.row_begin);
  });
  parallel_for(team, ranges, [&](int i, int worker) {
    kernels.backward(args, work.ranges[static_cast<std::size_t>(i)], memory.scratch(worker));
  });
  parallel_for(team, reduces, [&](int i, int) {
    const Reduce& r = work.reduces[static_cast<std::size_t>(i)];
    kernels.reduce_dq(args, r.rows, r.shares, r.count, r.stride);
  });
  parallel_for(team, slices, [&](int i, int worker) {
    kernels.dbias(args, bias[static_cast<std::size_t>(i)], memory.scratch(worker));
  });
  if (p.want_dsink) write_dsink(args, call, memory.delta(), seconds);
  return {};
}

}  // namespace fw::cpu
