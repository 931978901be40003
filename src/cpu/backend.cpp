#include "cpu/backend.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/env.hpp"
#include "base/text.hpp"
#include "cpu/args.hpp"
#include "cpu/float_environment.hpp"
#include "cpu/isa.hpp"
#include "cpu/naive.hpp"
#include "cpu/peak.hpp"
#include "cpu/pool.hpp"
#include "cpu/reference.hpp"
#include "cpu/run.hpp"
#include "cpu/tasks.hpp"
#include "plan/choose.hpp"
#include "plan/splits.hpp"

namespace fw::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "processor of unknown name";
}

// The others are the oracle's.
bool runs_kernels(std::string_view device) { return device == "cpu" || device == "naive"; }

// The plan of the same problem on the real kernels, less what naive has not.
Status plan_naive(const Kernels& kernels, Plan& plan) {
  plan.instance = say(kernels.instance, "/materialised");
  plan.candidates.clear();
  plan.splits = plan.chunks = 1;
  plan.split_keys = 0;
  plan.partial_bytes = 0;
  plan.tile_q = kernels.materialised.rows;
  plan.tile_k = static_cast<int>(plan.problem.seq_k);
  plan.thread_bytes = kernels.materialised.scratch(shape_args(plan.problem));
  return naive_workspace(kernels, plan.problem, plan.workspace);
}

// What declines() says of one diagonal, of a tensor of them.
Status check_diagonals(const Call& call) {
  if (!call.alibi.given() || !call.diagonals.given()) return {};
  const auto* diagonals = static_cast<const std::int32_t*>(call.diagonals.data);
  for (std::int64_t b = 0; b < call.diagonals.shape[0]; ++b)
    if (const std::int64_t diagonal = diagonals[b * call.diagonals.stride[0]];
        std::abs(diagonal) > longest_sequence)
      return unsupported(say("with ALiBi diagonals are at most ", longest_sequence,
                             " either way here; diagonals[", b, "] is ", diagonal));
  return {};
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : offers_(offers_here()), processor_(processor_name()) {
    if (const std::string& wanted = environment().cpu_isa; !wanted.empty())
      missing_ = force(wanted, offers_).message();
  }

  std::vector<Device> devices() const override {
    const char* const isa = best_of(offers_).name;
    std::vector<Device> all = {device("cpu", isa), device("naive", isa),
                               device("reference", "double precision"), device("eager", "plain loops")};
    for (Device& each : all) {
      const bool on_kernels = runs_kernels(each.name);
      each.listed = each.name == "cpu";
      each.wide_outputs = !on_kernels;
      if (on_kernels) each.missing = missing_;
    }
    return all;
  }

  std::optional<std::string> declines(const Problem& p, std::string_view device) const override {
    if (!runs_kernels(device)) return {};
    if (auto reason = too_far(p)) return reason;
    if (device == "naive") return naive_declines(p);
    return {};
  }

  Status plan(const Problem& p, std::string_view device, Plan& out) const override {
    if (auto reason = declines(p, device)) return unsupported(std::move(*reason));
    if (!runs_kernels(device)) {
      out = {};
      out.problem = p;
      out.device = out.instance = device;
      out.loader = "one row after another";
      return {};
    }
    FW_TRY(choose(p, instances_of(offers_, p), out));
    out.device = device;
    const Kernels& kernels = kernels_of(isa_of(out, offers_), p.dtype);
    if (device == "naive") return plan_naive(kernels, out);
    const Args shape = shape_args(p);
    out.tile_q = rows_of_task(p, kernels.forward_rows(shape));
    out.tile_k = kernels.forward_keys(shape);
    out.thread_bytes = p.forward() ? kernels.forward_scratch(shape) : 0;
    if (p.backward()) {
      const auto widest =
          static_cast<int>(std::min<std::int64_t>(p.seq_k, cut_chunks(out.chunks, p.seq_k).keys));
      out.thread_bytes = std::max(out.thread_bytes, backward_scratch(kernels, shape, widest));
    }
    return {};
  }

  Status run(const Plan& plan, const Call& call) const override {
    const DefaultFloatEnvironment environment;
    FW_TRY(check_values(call, plan.problem));
    if (runs_kernels(plan.device)) FW_TRY(check_diagonals(call));
    if (plan.device == "reference") return run_reference(plan, call, reference::Mode::oracle);
    if (plan.device == "eager") return run_reference(plan, call, reference::Mode::eager);
    const Isa& isa = isa_of(plan, offers_);
    const Kernels& kernels = kernels_of(isa, plan.problem.dtype);
    const double seconds = modelled_seconds(isa, plan.problem);
    if (plan.device == "naive") return run_naive(kernels, plan, call, seconds);
    return call.pass == Pass::forward ? run_forward(kernels, plan, call, seconds)
                                      : run_backward(kernels, plan, call, seconds);
  }

  Status combine(const CombineCall& call, std::string_view device) const override {
    const DefaultFloatEnvironment environment;
    return runs_kernels(device) ? run_combine(call) : reference::combine(call);
  }

  Status peak(std::string_view, DType, Peak& out) const override {
    return measure_peak(best_of(offers_), out);
  }

 private:
  Device device(const char* name, const char* isa) const {
    Device made;
    made.name = name;
    made.backend = "cpu";
    made.isa = isa;
    made.threads = threads();
    made.description = say(processor_, ", ", made.threads, made.threads == 1 ? " thread" : " threads");
    return made;
  }

  std::vector<Offer> offers_;
  std::string processor_;
  std::string missing_;  // why "cpu" cannot be used, or empty
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace fw::cpu
