// Gradients, each computed by whoever owns it: a block of queries sums its dq over keys, a block of keys its
// dk and dv over the queries of its group, a row of bias its dbias over everything it was broadcast to. So no
// two tasks add to the same number, and no order of tasks shows in a result.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/attend.hpp"
#include "reference/passes.hpp"

namespace fw::reference {
namespace {

// What the forward pass leaves behind for each query of each head.
template <class Real>
struct State {
  std::vector<Real> lse;
  std::vector<Real> delta;  // rowsum(out * dout) - dlse
  static std::size_t index(const Head& head, int64_t query) {
    return (head.sequence.first_state + query) * head.attention.heads_q + head.q;
  }
};

template <class Real>
struct Gradients {
  const Attention& a;
  const Call& call;
  const Parallel& parallel;
  State<Real> state;
};

template <class Real>
struct Queries {
  Matrix<Real> q, dout;
  void load(const Head& head, Span queries) {
    load_queries(q, head, queries);
    load_rows(dout, head.call().dout, head, queries);
  }
};

template <class Real>
struct Keys {
  Matrix<Real> k, kt, vt;
  void load(const Head& head, Span slots) {
    Matrix<Real> v;
    load_slots(k, head.call().k, head, slots);
    load_slots(v, head.call().v, head, slots);
    transpose(kt, k);
    transpose(vt, v);
  }
};

// One block of queries against one block of keys.
template <class Real>
struct Tile {
  Scores<Real> scores;
  Matrix<Real> p;   // weights as they met the values: dropped, rounded
  Matrix<Real> ds;  // gradient of the finished score
  Matrix<Real> dx;  // gradient of scale * q.k, rounded

  void differentiate(const Head& head, Span queries, Span slots, const Queries<Real>& rows,
                     const Keys<Real>& keys, const State<Real>& state);
};

template <class Real>
void Tile<Real>::differentiate(const Head& head, Span queries, Span slots, const Queries<Real>& rows,
                               const Keys<Real>& keys, const State<Real>& state) {
  const Dropout& dropout = head.attention.dropout;
  const DType narrow = head.attention.narrow;
  scores.s.reset(queries.size(), slots.size());
  accumulate(scores.s, 0, columns(rows.q, 0, rows.q.cols), keys.kt);
  finish_scores(scores, head, queries, slots);
  Matrix<Real> dp;
  dp.reset(queries.size(), slots.size());
  accumulate(dp, 0, columns(rows.dout, 0, rows.dout.cols), keys.vt);

  for (Matrix<Real>* m : {&p, &ds, &dx}) m->reset(queries.size(), slots.size());
  for (int64_t i = 0; i < queries.size(); ++i) {
    const int64_t query = queries.begin + i;
    const std::size_t at = State<Real>::index(head, query);
    std::vector<std::uint8_t> kept;
    if (dropout.active()) kept = dropout.kept(head.sequence.batch, head.q, query, slots.begin, slots.end);
    for (int64_t j = 0; j < slots.size(); ++j) {
      if (!scores.visible.row(i)[j]) continue;
      const Real weight = std::exp(scores.s.row(i)[j] - state.lse[at]);
      const Real keep = !dropout.active() ? 1 : kept[j] ? dropout.keep_scale() : 0;
      const Real slope = scores.slope.rows ? scores.slope.row(i)[j] : 1;
      p.row(i)[j] = rounded(weight * keep, narrow);
      ds.row(i)[j] = weight * (keep * dp.row(i)[j] - state.delta[at]);
      dx.row(i)[j] = rounded(ds.row(i)[j] * slope, narrow);
    }
  }
}

// out and lse of a block of queries. The oracle finds its own; eager takes the call's, as every backend does,
// so that the yardstick meets the same rounding of the two and not another that happens to be luckier.
template <class Real>
void find_forward(Attended<Real>& forward, const Gradients<Real>& g, const QueryTask& task) {
  if constexpr (std::is_same_v<Real, double>) {
    attend(forward, task.head, task.queries);
  } else {
    load_rows(forward.out, g.call.out, task.head, task.queries);
    forward.lse.resize(static_cast<std::size_t>(task.queries.size()));
    for (int64_t i = 0; i < task.queries.size(); ++i) {
      const int64_t query = task.head.sequence.first_query + task.queries.begin + i;
      forward.lse[static_cast<std::size_t>(i)] =
          static_cast<Real>(load(g.call.lse, lse_index(g.call.lse, query, task.head.q)));
    }
  }
}

template <class Real>
void find_state(Gradients<Real>& g, const QueryTask& task) {
  const Head& head = task.head;
  Attended<Real> forward;
  find_forward(forward, g, task);
  Matrix<Real> dout;
  load_rows(dout, g.call.dout, head, task.queries);
  for (int64_t i = 0; i < task.queries.size(); ++i) {
    const int64_t query = task.queries.begin + i;
    Real delta = 0;
    for (int64_t d = 0; d < dout.cols; ++d) delta += forward.out.row(i)[d] * dout.row(i)[d];
    if (g.call.dlse.given())
      delta -= static_cast<Real>(
          load(g.call.dlse, lse_index(g.call.dlse, head.sequence.first_query + query, head.q)));
    const std::size_t at = State<Real>::index(head, query);
    g.state.lse[at] = forward.lse[i];
    g.state.delta[at] = delta;
  }
}

template <class Real>
void find_dq(Gradients<Real>& g, const QueryTask& task) {
  const Head& head = task.head;
  Queries<Real> rows;
  rows.load(head, task.queries);
  Keys<Real> keys;
  Tile<Real> tile;
  Matrix<Real> dq;
  dq.reset(task.queries.size(), g.a.dim_qk);
  for (const Span slots : blocks(seen_by(head, task.queries), key_block)) {
    keys.load(head, slots);
    tile.differentiate(head, task.queries, slots, rows, keys, g.state);
    accumulate(dq, 0, columns(tile.dx, tile.scores.visible, 0, slots.size()), keys.k);
  }
  const Real scale = static_cast<Real>(g.a.scale);
  for (int64_t i = 0; i < dq.rows; ++i) {
    const int64_t row = row_index(g.call.dq, head.sequence.first_query + task.queries.begin + i, head.q);
    for (int64_t d = 0; d < dq.cols; ++d)
      store(g.call.dq, row + d, rounded(scale * dq.row(i)[d], g.a.narrow));
  }
}

struct KeyTask {
  const Sequence* sequence;
  int64_t head;  // of k
  Span slots;
};

// dk or dv before rounding, in the order of the key storage.
template <class Real>
struct Storage {
  const View& view;
  std::vector<Real> sums;  // (rows, heads, width)

  explicit Storage(const View& gradient) : view(gradient), sums(gradient.elements()) {}
  int64_t heads() const { return view.shape[view.rank - 2]; }
  int64_t width() const { return view.shape[view.rank - 1]; }
  Real* at(int64_t row, int64_t head) { return sums.data() + (row * heads() + head) * width(); }

  void round_to_view(DType narrow, int64_t head) {
    if (view.empty()) return;
    const int64_t rows = view.elements() / (heads() * width());
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t d = 0; d < width(); ++d)
        store(view, row_index(view, row, head) + d, rounded(at(row, head)[d], narrow));
  }
};

template <class Real>
void add_dk_dv(Gradients<Real>& g, const KeyTask& task, Storage<Real>& dk_store, Storage<Real>& dv_store) {
  if (g.a.group() == 0) return;  // no q head reads these keys
  const Sequence& s = *task.sequence;
  Keys<Real> keys;
  keys.load(Head{g.a, s, task.head * g.a.group()}, task.slots);
  Queries<Real> rows;
  Tile<Real> tile;
  Matrix<Real> dk, dv;
  dk.reset(task.slots.size(), g.a.dim_qk);
  dv.reset(task.slots.size(), g.a.dim_v);
  for (int64_t member = 0; member < g.a.group(); ++member) {
    const Head head{g.a, s, task.head * g.a.group() + member};
    for (const Span queries : blocks(queries_seeing(head, task.slots), query_block)) {
      rows.load(head, queries);
      tile.differentiate(head, queries, task.slots, rows, keys, g.state);
      accumulate(dv, 0, transposed(tile.p, tile.scores.visible), rows.dout);
      accumulate(dk, 0, transposed(tile.dx, tile.scores.visible), rows.q);
    }
  }
  const Real scale = static_cast<Real>(g.a.scale);
  for (int64_t j = 0; j < task.slots.size(); ++j) {
    const int64_t row = key_row(g.call, s, task.slots.begin + j);
    for (int64_t d = 0; d < dk.cols; ++d) dk_store.at(row, task.head)[d] += scale * dk.row(j)[d];
    for (int64_t d = 0; d < dv.cols; ++d) dv_store.at(row, task.head)[d] += dv.row(j)[d];
  }
}

// Blocks of keys that may lie in the same page take turns.
template <class Real>
Status find_dk_dv(Gradients<Real>& g) {
  Storage<Real> dk(g.call.dk), dv(g.call.dv);
  const bool shared = g.call.block_table.given();
  std::vector<KeyTask> turn;
  const auto take_turn = [&] {
    const Status status =
        run_tasks(g.parallel, turn.size(), [&](std::size_t t) { add_dk_dv(g, turn[t], dk, dv); });
    turn.clear();
    return status;
  };
  for (const Sequence& s : g.a.sequences) {
    const Head any{g.a, s, 0};
    for (const Span slots : blocks(seen_by(any, any.all_queries()), key_block)) {
      for (int64_t h = 0; h < g.a.heads_k; ++h) turn.push_back({&s, h, slots});
      if (shared) FW_TRY(take_turn());
    }
  }
  FW_TRY(take_turn());
  return run_tasks(g.parallel, g.a.heads_k, [&](std::size_t h) {
    dk.round_to_view(g.a.narrow, static_cast<int64_t>(h));
    dv.round_to_view(g.a.narrow, static_cast<int64_t>(h));
  });
}

struct BiasTask {
  Span batches, heads, queries;  // that read the same rows of bias
  Span slots;
};

std::vector<BiasTask> bias_tasks(const Attention& a) {
  const View& bias = a.call.dbias;
  const auto owners = [&](int dimension, int64_t all, int64_t block) {
    return bias.shape[dimension] == 1 ? std::vector<Span>{{0, all}}
                                      : blocks({0, bias.shape[dimension]}, block);
  };
  std::vector<BiasTask> tasks;
  for (const Span batches : owners(0, static_cast<int64_t>(a.sequences.size()), 1))
    for (const Span heads : owners(1, a.heads_q, 1))
      for (const Span queries : owners(2, std::numeric_limits<int64_t>::max(), query_block))
        for (const Span slots : blocks({0, bias.shape[3]}, key_block))
          tasks.push_back({batches, heads, queries, slots});
  return tasks;
}

Span overlap(Span a, Span b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

template <class Real>
void find_dbias(Gradients<Real>& g, const BiasTask& task) {
  const View& dbias = g.call.dbias;
  const bool one_row = dbias.shape[2] == 1;
  Matrix<Real> sum;
  sum.reset(one_row ? 1 : task.queries.size(), task.slots.size());
  Queries<Real> rows;
  Keys<Real> keys;
  Tile<Real> tile;
  for (int64_t b = task.batches.begin; b < task.batches.end; ++b)
    for (int64_t h = task.heads.begin; h < task.heads.end; ++h) {
      const Head head{g.a, g.a.sequences[b], h};
      const Span slots = overlap(task.slots, seen_by(head, overlap(task.queries, head.all_queries())));
      if (slots.size() == 0) continue;
      keys.load(head, slots);
      for (const Span queries : blocks(overlap(task.queries, queries_seeing(head, slots)), query_block)) {
        rows.load(head, queries);
        tile.differentiate(head, queries, slots, rows, keys, g.state);
        for (int64_t i = 0; i < queries.size(); ++i) {
          Real* to =
              sum.row(one_row ? 0 : queries.begin + i - task.queries.begin) + slots.begin - task.slots.begin;
          for (int64_t j = 0; j < slots.size(); ++j) to[j] += tile.ds.row(i)[j];
        }
      }
    }
  for (int64_t i = 0; i < sum.rows; ++i) {
    const int64_t row = bias_index(dbias, task.batches.begin, task.heads.begin, task.queries.begin + i);
    for (int64_t j = 0; j < sum.cols; ++j)
      store(dbias, row + task.slots.begin + j, rounded(sum.row(i)[j], g.call.bias.dtype));
  }
}

// The sink's weight is exp(sink - lse), and its score adds to lse but to no value.
template <class Real>
void find_dsink(Gradients<Real>& g) {
  const View& dsink = g.call.dsink;
  for (int64_t h = 0; h < g.a.heads_q; ++h) {
    Real sum = 0;
    for (const Sequence& s : g.a.sequences)
      for (int64_t i = 0; i < s.queries; ++i) {
        const Head head{g.a, s, h};
        const std::size_t at = State<Real>::index(head, i);
        const Real sink = sink_of<Real>(head);
        if (sink != -std::numeric_limits<Real>::infinity())
          sum -= std::exp(sink - g.state.lse[at]) * g.state.delta[at];
      }
    store(dsink, h * dsink.stride[0], rounded(sum, g.call.sink.dtype));
  }
}

}  // namespace

template <class Real>
Status backward(const Attention& a, const Parallel& parallel) {
  const std::size_t states = a.states * a.heads_q;
  Gradients<Real> g{a, a.call, parallel, {std::vector<Real>(states), std::vector<Real>(states)}};
  const std::vector<QueryTask> tasks = query_tasks(a);
  FW_TRY(run_tasks(parallel, tasks.size(), [&](std::size_t t) { find_state(g, tasks[t]); }));
  fill(a.call.dq, 0);
  FW_TRY(run_tasks(parallel, tasks.size(), [&](std::size_t t) { find_dq(g, tasks[t]); }));
  FW_TRY(find_dk_dv(g));
  if (a.call.dbias.given()) {
    const std::vector<BiasTask> owners = bias_tasks(a);
    FW_TRY(run_tasks(parallel, owners.size(), [&](std::size_t t) { find_dbias(g, owners[t]); }));
  }
  if (a.call.dsink.given()) find_dsink(g);
  return {};
}

template Status backward<float>(const Attention&, const Parallel&);
template Status backward<double>(const Attention&, const Parallel&);

}  // namespace fw::reference
