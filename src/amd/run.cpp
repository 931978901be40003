#include "amd/run.hpp"

#include <algorithm>
#include <cstdint>

#include "amd/choose.hpp"
#include "amd/kernels/launch.hpp"
#include "amd/workspace.hpp"
#include "backend/args.hpp"
#include "base/text.hpp"
#include "plan/splits.hpp"

namespace fw::amd {
namespace {

using host::divide_up;

const int* ints_of(const View& view) { return static_cast<const int*>(view.data); }

// A grid has fewer than 2^32 threads, so a larger one comes as several.
template <class Parameters>
Status launch(const gpu::Device& device, const Kernel& kernel, Parameters parameters, void* stream) {
  const i64 most = (i64{1} << 31) / kernel.threads;
  gpu::Function function;
  if (parameters.work > 0) FW_TRY(device.load(kernel.code, function));
  for (i64 first = 0; first < parameters.work; first += most) {
    parameters.first_work = first;
    FW_TRY(device.launch(function, std::min(most, parameters.work - first), kernel.threads, &parameters,
                         sizeof parameters, stream));
  }
  return {};
}

// Address, strides and length of rows are multiples of 16 bytes. A dimension of one has no stride to mind.
bool rows_aligned(const View& view) {
  constexpr std::int64_t unit = 16;
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  if (reinterpret_cast<std::uintptr_t>(view.data) % unit != 0) return false;
  if (view.shape[view.rank - 1] * size % unit != 0) return false;
  for (int i = 0; i + 1 < view.rank; ++i)
    if (view.shape[i] > 1 && view.stride[i] * size % unit != 0) return false;
  return true;
}

u32 alignment_of(const Call& call) {
  return (rows_aligned(call.q) ? aligned_q : 0u) | (rows_aligned(call.k) ? aligned_k : 0u) |
         (rows_aligned(call.v) ? aligned_v : 0u) | (rows_aligned(call.out) ? aligned_out : 0u);
}

int rows_in(const View& view) { return view.given() ? static_cast<int>(view.shape[0]) : 0; }

Bounds bounds_of(const Problem& p, const Call& call) {
  Bounds b{};
  if (call.cu_seqlens_q.given()) b.rows_q = call.q.shape[0];
  if (call.cu_seqlens_k.given()) b.rows_k = call.k.shape[0];
  if (p.page_size == 0) b.cache_rows = rows_in(call.k);
  if (call.block_table.given()) b.columns = static_cast<int>(call.block_table.shape[1]);
  b.positions = rows_in(call.rotary_cos);
  return b;
}

RotaryTables rotary_of(const Problem& p, const Call& call) {
  RotaryTables r{};
  if (p.rotary.dim == 0) return r;
  r.cos = call.rotary_cos.data;
  r.sin = call.rotary_sin.data;
  r.cos_row = call.rotary_cos.stride[0];
  r.sin_row = call.rotary_sin.stride[0];
  r.element = static_cast<Element>(p.rotary.dtype);
  r.dim = p.rotary.dim;
  r.interleaved = p.rotary.interleaved;
  r.start = ints_of(call.rotary_seqlens.given() ? call.rotary_seqlens : call.cache_seqlens);
  return r;
}

Tensor rows_of_new(const View& view) { return {view.data, view.stride[0], view.stride[1], view.stride[2]}; }

// A call under way: the kernels it needs, and its Args as they change from step to step.
class Forward {
 public:
  Forward(const gpu::Device& device, const Plan& plan, const Call& call)
      : device_(device),
        plan_(plan),
        problem_(plan.problem),
        call_(call),
        args_(call_args(plan.problem, call)),
        bounds_(bounds_of(plan.problem, call)),
        aligned_(alignment_of(call)),
        splits_(static_cast<int>(most_ranges(plan.splits, plan.split_keys, plan.problem.seq_k))),
        team_(helpers_of(plan.problem, device.description().arch, splits_)),
        memory_(device) {
    args_.pages = problem_.pages;
    team_.attention = find_kernel(device.description().arch, plan.instance);
  }

  Status all() {
    FW_TRY(memory_.take(plan_, call_));
    if (team_.append != nullptr) FW_TRY(append());
    if (team_.rotate != nullptr) FW_TRY(rotate());
    if (team_.fill != nullptr) FW_TRY(fill());
    FW_TRY(attend());
    if (team_.combine != nullptr) FW_TRY(combine());
    if (team_.mask != nullptr) FW_TRY(mask());
    return {};
  }

 private:
  template <class Parameters>
  Status run(const Kernel* kernel, const Parameters& parameters) const {
    return launch(device_, *kernel, parameters, call_.stream);
  }

  Status append() const {
    if (problem_.heads_k == 0) return {};
    AppendLaunch l{args_,
                   bounds_,
                   rows_of_new(call_.k_new),
                   rows_of_new(call_.v_new),
                   args_.append,
                   ints_of(call_.cache_seqlens),
                   rotary_of(problem_, call_),
                   0,
                   0};
    l.work = problem_.batch * problem_.append;
    return run(team_.append, l);
  }

  // The rotated queries lie without gaps, dense or ragged as q does.
  Status rotate() {
    const i64 row = problem_.heads_q * problem_.dim_qk;
    const Tensor to{memory_.query(), args_.cu_seqlens_q != nullptr ? 0 : problem_.seq_q * row, row,
                    problem_.dim_qk};
    RotateLaunch l{args_, bounds_, to, rotary_of(problem_, call_), problem_.left >= 0 || problem_.right >= 0,
                   0,     0};
    l.work = problem_.heads_q > 0 ? problem_.batch * problem_.seq_q : 0;
    FW_TRY(run(team_.rotate, l));
    args_.q = to;
    const bool whole = problem_.dim_qk * static_cast<i64>(size_of(problem_.dtype)) % 16 == 0;
    aligned_ = (aligned_ & ~static_cast<u32>(aligned_q)) | (whole ? aligned_q : 0u);
    return {};
  }

  Status fill() const {
    FillLaunch l{args_, bounds_, 0, 0};
    if (problem_.heads_q > 0)
      l.work = args_.cu_seqlens_q != nullptr ? call_.q.shape[0] : problem_.batch * problem_.seq_q;
    return run(team_.fill, l);
  }

  Status attend() const {
    const Kernel* planned = team_.attention;
    if (planned->kind == Kind::fast && !suits_fast(args_, aligned_, planned->dim_qk, planned->dim_v))
      planned = find_substitute(problem_, device_.description());
    const Kernel& kernel = *planned;
    AttentionLaunch l{};
    l.args = args_;
    l.bounds = bounds_;
    l.row_tiles = static_cast<int>(divide_up(problem_.seq_q * problem_.group(), kernel.rows));
    l.splits = splits_;
    l.split_keys = plan_.split_keys;
    if (splits_ > 1) {
      l.partial_out = memory_.partial_out();
      l.partial_lse = memory_.partial_lse();
    }
    l.work = problem_.batch * problem_.heads_k * splits_ * l.row_tiles;
    l.dies = device_.description().arch == "gfx90a" ? 1 : 8;
    l.aligned = aligned_;
    return run(&kernel, l);
  }

  Status combine() const {
    const i64 rows = problem_.batch * problem_.seq_q * problem_.heads_q;
    const i64 of_batch = problem_.heads_q * problem_.seq_q;
    CombineLaunch l{};
    l.args = args_;
    l.bounds = bounds_;
    l.outs = {memory_.partial_out(), of_batch * problem_.dim_v, problem_.dim_v,
              problem_.seq_q * problem_.dim_v};
    l.lses = {memory_.partial_lse(), of_batch, 1, problem_.seq_q};
    l.outs_partial = rows * problem_.dim_v;
    l.lses_partial = rows;
    l.outs_element = Element::fp32;
    l.partials = splits_;
    l.work = divide_up(rows, team_.combine->rows);
    return run(team_.combine, l);
  }

  Status mask() const {
    return run(team_.mask, MaskLaunch{args_, 0, problem_.batch * problem_.heads_q * problem_.seq_q});
  }

  const gpu::Device& device_;
  const Plan& plan_;
  const Problem& problem_;
  const Call& call_;
  Args args_;
  Bounds bounds_;
  u32 aligned_;
  int splits_;
  Team team_;
  WorkingSet memory_;
};

// (..., B,S,H,D) or (..., T,H,D), `lead` dimensions of which come first.
Tensor rows_behind(const View& view, int lead) {
  return {view.data, view.rank - lead == 4 ? view.stride[lead] : 0, view.stride[view.rank - 3],
          view.stride[view.rank - 2]};
}
// (..., B,H,S) or (..., H,T).
Tensor values_behind(const View& view, int lead) {
  return {view.data, view.rank - lead == 3 ? view.stride[lead] : 0, view.stride[view.rank - 1],
          view.stride[view.rank - 2]};
}

}  // namespace

Status load_kernels(const gpu::Device& device, const Plan& plan) {
  Team team = helpers_of(plan.problem, device.description().arch, plan.splits);
  team.attention = find_kernel(device.description().arch, plan.instance);
  gpu::Function loaded;
  if (team.attention->kind == Kind::fast)
    FW_TRY(device.load(find_substitute(plan.problem, device.description())->code, loaded));
  for (const Kernel* kernel : {team.attention, team.combine, team.append, team.rotate, team.fill, team.mask})
    if (kernel != nullptr) FW_TRY(device.load(kernel->code, loaded));
  return {};
}

Status run_forward(const gpu::Device& device, const Plan& plan, const Call& call) {
  return Forward(device, plan, call).all();
}

Status run_combine(const gpu::Device& device, const CombineCall& call) {
  if (call.out.empty()) return {};
  const std::string& arch = device.description().arch;
  const Kernel* const kernel = find_kernel(arch, Kind::combine, call.out.dtype);
  if (kernel == nullptr)
    return unsupported(say("this build has no kernel for ", arch, " that merges partial results"));
  const int rank = call.out.rank;
  CombineLaunch l{};
  l.args.element = static_cast<Element>(call.out.dtype);
  l.args.batch = rank == 4 ? rows_in(call.out) : 1;
  l.args.seq_q = static_cast<int>(call.out.shape[rank - 3]);
  l.args.heads_q = static_cast<int>(call.out.shape[rank - 2]);
  l.args.heads_k = l.args.heads_q;
  l.args.dim_v = static_cast<int>(call.out.shape[rank - 1]);
  l.args.out = rows_behind(call.out, 0);
  if (call.lse.given()) l.args.lse = values_behind(call.lse, 0);
  l.args.sink = call.sink.data;
  l.args.sink_element = static_cast<Element>(call.sink.dtype);
  l.outs = rows_behind(call.outs, 1);
  l.lses = values_behind(call.lses, 1);
  l.outs_partial = call.outs.stride[0];
  l.lses_partial = call.lses.stride[0];
  l.outs_element = static_cast<Element>(call.outs.dtype);
  l.partials = static_cast<int>(call.lses.shape[0]);
  l.work = divide_up(i64{l.args.batch} * l.args.seq_q * l.args.heads_q, kernel->rows);
  return launch(device, *kernel, l, call.stream);
}

}  // namespace fw::amd
