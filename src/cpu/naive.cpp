#include "cpu/naive.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/convert.hpp"
#include "base/text.hpp"
#include "cpu/args.hpp"
#include "cpu/fill.hpp"
#include "cpu/memory.hpp"
#include "cpu/pool.hpp"
#include "meaning/keys.hpp"
#include "plan/bytes.hpp"
#include "plan/choose.hpp"

namespace fw::cpu {
namespace {

// Where the matrices of one head lie in the workspace, in floats.
struct Layout {
  Bytes gradients, delta, dk, dv, end;
  i64 dk_row, dv_row;  // sums of a key, in whole vectors

  Layout(const Kernels& kernels, const Problem& p) {
    const auto whole_vectors = [&](i64 dim) {
      return (dim + kernels.lanes - 1) / kernels.lanes * kernels.lanes;
    };
    dk_row = whole_vectors(p.dim_qk);
    dv_row = whole_vectors(p.dim_v);
    const std::int64_t rows = kernels.materialised.rows;
    const Bytes matrix = Bytes((p.seq_q + rows - 1) / rows * rows) * Bytes(p.seq_k);
    gradients = matrix;
    delta = gradients + (p.backward() ? matrix : Bytes());
    dk = delta + Bytes(p.backward() ? p.seq_q * p.group() : 0);
    dv = dk + Bytes(p.backward() ? p.seq_k * dk_row : 0);
    end = dv + Bytes(p.backward() ? p.seq_k * dv_row : 0);
  }
};

// One call: what its steps share.
class Naive {
 public:
  Naive(const Kernels& kernels, const Problem& problem, const Args& args, double seconds)
      : kernels_(kernels),
        steps_(kernels.materialised),
        layout_(kernels, problem),
        args_(args),
        group_(args.heads_k > 0 ? args.heads_q / args.heads_k : 0),
        threads_(threads()),
        seconds_(seconds) {}

  Status take(const Call& call) {
    stride_ = (steps_.scratch(args_) + 4095) / 4096 * 4096;
    FW_TRY(scratch_.take(stride_ * static_cast<std::size_t>(threads_), "scratch"));
    if (call.workspace != nullptr) {
      floats_ = static_cast<float*>(call.workspace);
      return {};
    }
    FW_TRY(workspace_.take_from(call.allocator, layout_.end.value() * sizeof(float), "workspace"));
    floats_ = reinterpret_cast<float*>(workspace_.data());
    return {};
  }

  void forward() const {
    each_head([&](const host::Sequence& s, int head) {
      each_panel(s, head, [&](const PanelTask& task, int worker) {
        steps_.multiply(args_, task, args_.k, args_.q, args_.dim_qk, matrix(Bytes(), s, task),
                        scratch(worker));
      });
      each_panel(s, head,
                 [&](const PanelTask& task, int) { steps_.softmax(args_, task, matrix(Bytes(), s, task)); });
      each_panel(s, head, [&](const PanelTask& task, int worker) {
        steps_.weigh(args_, task, matrix(Bytes(), s, task), args_.v, args_.dim_v, 1.0f, args_.out,
                     scratch(worker));
      });
    });
  }

  void backward() const {
    each_head([&](const host::Sequence& s, int head) {
      if (head % group_ == 0) open_kv_head(s, head / group_);
      each_panel(s, head, [&](const PanelTask& task, int worker) {
        steps_.multiply(args_, task, args_.k, args_.q, args_.dim_qk, matrix(Bytes(), s, task),
                        scratch(worker));
        steps_.multiply(args_, task, args_.v, args_.dout, args_.dim_v, matrix(layout_.gradients, s, task),
                        scratch(worker));
      });
      each_panel(s, head, [&](const PanelTask& task, int) {
        steps_.differentiate(args_, task, matrix(Bytes(), s, task), matrix(layout_.gradients, s, task),
                             at(layout_.delta) + head % group_, group_);
      });
      gather(s, head, Bytes(), args_.dout, args_.dim_v, at(layout_.dv), layout_.dv_row);
      gather(s, head, layout_.gradients, args_.q, args_.dim_qk, at(layout_.dk), layout_.dk_row);
      each_panel(s, head, [&](const PanelTask& task, int worker) {
        steps_.weigh(args_, task, matrix(layout_.gradients, s, task), args_.k, args_.dim_qk, args_.scale,
                     args_.dq, scratch(worker));
      });
      if (head % group_ == group_ - 1) {
        write_keys(s, head / group_, args_.dk, at(layout_.dk), layout_.dk_row, args_.dim_qk, args_.scale);
        write_keys(s, head / group_, args_.dv, at(layout_.dv), layout_.dv_row, args_.dim_v, 1.0f);
      }
    });
  }

 private:
  float* at(Bytes offset) const { return floats_ + offset.value(); }
  float* matrix(Bytes offset, const host::Sequence& s, const PanelTask& task) const {
    return at(offset) + static_cast<i64>(task.panel) * steps_.rows * s.keys;
  }
  void* scratch(int worker) const { return scratch_.data() + static_cast<std::size_t>(worker) * stride_; }
  int team(int tasks) const { return std::min(team_for(tasks, seconds_), threads_); }

  template <class Visit>
  void each_head(Visit visit) const {
    for (int b = 0; b < args_.batch; ++b) {
      const host::Sequence s = host::sequence_of(args_, b);
      for (int head = 0; head < args_.heads_q; ++head) visit(s, head);
    }
  }

  template <class Visit>
  void each_panel(const host::Sequence& s, int head, Visit visit) const {
    const int panels = (s.queries + steps_.rows - 1) / steps_.rows;
    parallel_for(team(panels), panels,
                 [&](int panel, int worker) { visit(PanelTask{s.batch, head, panel}, worker); });
  }

  void open_kv_head(const host::Sequence& s, int kv_head) const {
    std::fill_n(at(layout_.dk), s.keys * layout_.dk_row, 0.0f);
    std::fill_n(at(layout_.dv), s.keys * layout_.dv_row, 0.0f);
    const RowTask rows{s.batch, kv_head, 0, s.queries * group_};
    kernels_.delta(args_, rows, at(layout_.delta));
  }

  // sums += weights^T queries, a block of keys a task, the panels in order.
  void gather(const host::Sequence& s, int head, Bytes weights, const Tensor& queries, int dim, float* sums,
              i64 sums_row) const {
    const int blocks = (s.keys + steps_.keys - 1) / steps_.keys,
              panels = (s.queries + steps_.rows - 1) / steps_.rows;
    parallel_for(team(blocks), blocks, [&](int block, int worker) {
      const int begin = block * steps_.keys, count = std::min(steps_.keys, s.keys - begin);
      for (int panel = 0; panel < panels; ++panel) {
        const PanelTask task{s.batch, head, panel};
        steps_.gather(args_, task, matrix(weights, s, task), begin, count, queries, dim,
                      sums + begin * sums_row, scratch(worker));
      }
    });
  }

  void write_keys(const host::Sequence& s, int kv_head, const Tensor& out, const float* sums, i64 sums_row,
                  int dim, float scale) const {
    const auto dtype = static_cast<DType>(args_.element);
    host::each_run(args_, out, s, kv_head, {0, s.keys}, [&](int first, int count, i64 offset) {
      for (int i = 0; i < count; ++i)
        for (int d = 0; d < dim; ++d)
          store_float(out.data, dtype, offset + i * out.row + d, sums[(first + i) * sums_row + d] * scale);
    });
  }

  const Kernels& kernels_;
  const MaterialisedKernels& steps_;
  Layout layout_;
  const Args& args_;
  int group_;
  int threads_;
  double seconds_;
  Memory workspace_, scratch_;
  float* floats_ = nullptr;
  std::size_t stride_ = 0;
};

}  // namespace

std::optional<std::string> naive_declines(const Problem& p) {
  const auto has = [](const char* feature) { return say("naive is a yardstick without ", feature); };
  if (scored(p)) return has("softcap, ALiBi, bias, dropout or scale 0");
  if (p.sink != DType::none) return has("sinks");
  if (p.cached() || p.append > 0 || p.rotary.dim > 0) return has("caches, pages or rotary");
  if (p.seqused_q || p.seqused_k) return has("seqused");
  if (p.splits > 1) return has("splits");
  return {};
}

Status naive_workspace(const Kernels& kernels, const Problem& problem, std::size_t& bytes) {
  const Bytes size = Layout(kernels, problem).end * Bytes(sizeof(float));
  if (size.overflow())
    return exhausted("the score matrix of a head has more bytes than an address can count");
  bytes = size.value();
  return {};
}

Status run_naive(const Kernels& kernels, const Plan& plan, const Call& call, double seconds) {
  const Problem& p = plan.problem;
  const HostArgs prepared = host_args(p, call);
  Naive naive(kernels, p, prepared.args, seconds);
  FW_TRY(naive.take(call));
  const bool idle_rows = p.lengths == Lengths::varlen || p.heads_q == 0;
  if (call.pass == Pass::forward) {
    if (idle_rows) {
      fill_zero(call.out);
      fill_value(call.lse, -INFINITY);
    }
    naive.forward();
  } else {
    if (idle_rows)
      for (const View* gradient : {&call.dq, &call.dk, &call.dv}) fill_zero(*gradient);
    naive.backward();
  }
  return {};
}

}  // namespace fw::cpu
