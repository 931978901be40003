#include "support/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "support/members.hpp"
#include "support/numbers.hpp"
#include "support/outputs.hpp"
#include "support/sequences.hpp"

namespace tools {

namespace {

using Call = flashwave_attention;

double pairs_of_head(const Sequences& sequences) {
  double pairs = 0;
  for (std::size_t b = 0; b < sequences.size(); ++b)
    for (std::int64_t i = 0; i < sequences[b].queries; ++i) {
      const Range seen = sequences.visible(b, i);
      pairs += static_cast<double>(seen.end - seen.begin);
    }
  return pairs;
}

double largest_size(const flashwave_tensor& t) {
  double largest = 0;
  for_each_row(t, [&](std::int64_t, std::int64_t offset) {
    for (std::int64_t j = 0; j < t.shape[t.rank - 1]; ++j) {
      const double size = std::fabs(load(t.data, t.dtype, offset + j));
      if (size > largest) largest = size;  // false for poison
    }
  });
  return largest;
}

// The oracle's answer in fp32, and eager's in the call's own types: contiguous, of one shape.
struct Answers {
  Arena memory{Memory::poisoned};
  Call oracle, eager;
};

// Judges the whole call, or the part of it that one kv head makes up, each by `part`.
class Judging {
 public:
  Judging(const Call& before, const Call& done, const JudgeOptions& options, Verdict& verdict)
      : before_(before), done_(done), options_(options), verdict_(verdict) {}

  Outcome all();

 private:
  std::vector<std::int64_t> sampled_heads() const;
  Outcome part(const Call& before, const Call& done);
  Outcome answer_forward(const Call& before, const Call& done, Answers& answers) const;
  Outcome answer_backward(const Call& before, const Call& done, Answers& answers) const;
  Outcome answer(Answers& answers, const Wants& wants) const;
  void compare_forward(const Call& before, const Call& done, const Answers& answers);
  void compare_backward(const Call& before, const Call& done, const Answers& answers);
  void compare_lse(const Sequences& sequences, const Call& done, const Call& oracle);
  void compare_mask(const Sequences& sequences, const Call& done, const Call& oracle);
  void compare_cache(const std::string& name, const flashwave_tensor& got, const flashwave_tensor& want,
                     bool turned);
  Tally& tally(const std::string& name);
  void fault(std::string sentence);

  const Call& before_;
  const Call& done_;
  const JudgeOptions& options_;
  Verdict& verdict_;
  std::set<std::string> seen_faults_;
};

bool has_gradients(const Call& call) { return call.pass == FLASHWAVE_BACKWARD; }

// Flags of the rows of an output like q: 1 where no key is seen. `shape` is a contiguous tensor of that
// shape.
std::vector<char> blind_queries(const Sequences& sequences, const Call& oracle,
                                const flashwave_tensor& shape) {
  const std::int64_t columns = shape.shape[shape.rank - 1], heads = shape.shape[shape.rank - 2];
  std::vector<char> blind(static_cast<std::size_t>(elements(shape) / std::max<std::int64_t>(columns, 1)), 1);
  for (std::size_t b = 0; b < sequences.size(); ++b)
    for (std::int64_t i = 0; i < sequences[b].queries; ++i) {
      if (sequences.visible(b, i).empty()) continue;
      for (std::int64_t head = 0; head < heads; ++head) {
        const float lse = load(oracle.lse.data, FLASHWAVE_FP32, sequences.lse_offset(oracle.lse, b, i, head));
        if (std::isinf(lse) && lse < 0) continue;  // a bias hides all
        blind[static_cast<std::size_t>(sequences.query_offset(shape, b, i, head) / columns)] = 0;
      }
    }
  return blind;
}

// Likewise of an output like k: 1 where no row looks.
std::vector<char> unseen_keys(const Sequences& sequences, const flashwave_tensor& shape) {
  const std::int64_t columns = shape.shape[shape.rank - 1], heads = shape.shape[shape.rank - 2];
  std::vector<char> unseen(static_cast<std::size_t>(elements(shape) / std::max<std::int64_t>(columns, 1)), 1);
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const Range seen = sequences.visible(b);
    for (std::int64_t slot = seen.begin; slot < seen.end; ++slot)
      for (std::int64_t head = 0; head < heads; ++head)
        unseen[static_cast<std::size_t>(sequences.key_offset(shape, b, slot, head) / columns)] = 0;
  }
  return unseen;
}

// How many keys the row of each lse sees, in the order of a contiguous tensor of that shape.
std::vector<std::int64_t> keys_seen(const Sequences& sequences, const flashwave_tensor& shape) {
  std::vector<std::int64_t> seen(static_cast<std::size_t>(elements(shape)), 0);
  for (std::size_t b = 0; b < sequences.size(); ++b)
    for (std::int64_t i = 0; i < sequences[b].queries; ++i) {
      const Range row = sequences.visible(b, i);
      for (std::int64_t head = 0; head < shape.shape[shape.rank - 2]; ++head)
        seen[static_cast<std::size_t>(sequences.lse_offset(shape, b, i, head))] = row.end - row.begin;
    }
  return seen;
}

double lse_tolerance(int dtype, double lse, std::int64_t keys) {
  const double fp32 = 1e-5 * (1 + std::fabs(lse));
  if (dtype == FLASHWAVE_FP32) return fp32;
  const double rounded = dtype == FLASHWAVE_BF16 && keys < 1024 ? 2e-3 : 5e-4;
  return std::max(rounded, fp32);
}

std::vector<std::int64_t> Judging::sampled_heads() const {
  const std::int64_t heads_q = before_.q.shape[before_.q.rank - 2],
                     heads_k = before_.k.shape[before_.k.rank - 2];
  if (options_.all_heads || heads_k <= 4) return {};
  // A gradient summed over heads needs all of them.
  if (given(done_.dbias) && done_.dbias.shape[1] != heads_q) return {};
  const double dim = static_cast<double>(before_.q.shape[before_.q.rank - 1]);
  const double dim_v = static_cast<double>(before_.v.shape[before_.v.rank - 1]);
  const double per_pair = has_gradients(done_) ? 2 * (3 * dim + 2 * dim_v) : 2 * (dim + dim_v);
  if (pairs_of_head(Sequences(before_)) * static_cast<double>(heads_q) * per_pair <= options_.sample_above)
    return {};
  const Numbers numbers(before_.seed, "sampled heads");
  const std::set<std::int64_t> heads = {0, heads_k - 1, numbers.below(0, heads_k), numbers.below(1, heads_k)};
  return {heads.begin(), heads.end()};
}

Outcome Judging::all() {
  const auto heads = sampled_heads();
  verdict_.heads = before_.k.shape[before_.k.rank - 2];
  verdict_.heads_judged = heads.empty() ? verdict_.heads : static_cast<std::int64_t>(heads.size());
  if (heads.empty()) TOOLS_TRY(part(before_, done_));
  for (const std::int64_t head : heads) TOOLS_TRY(part(of_kv_head(before_, head), of_kv_head(done_, head)));
  for (const Tally& t : verdict_.tensors)
    if (std::string sentence = t.fault(); !sentence.empty()) fault(std::move(sentence));
  return {};
}

Outcome Judging::part(const Call& before, const Call& done) {
  Answers answers;
  TOOLS_TRY(answer_forward(before, done, answers));
  if (has_gradients(done)) {
    TOOLS_TRY(answer_backward(before, done, answers));
    compare_backward(before, done, answers);
  } else {
    compare_forward(before, done, answers);
  }
  return {};
}

Outcome Judging::answer(Answers& answers, const Wants& wants) const {
  add_outputs(answers.oracle, wants, {.dtype = FLASHWAVE_FP32}, answers.memory);
  add_outputs(answers.eager, wants, {}, answers.memory);
  TOOLS_TRY(run_on(options_.oracle, answers.oracle, Memory::plain));
  return run_on(options_.yardstick, answers.eager, Memory::plain);
}

Outcome Judging::answer_forward(const Call& before, const Call& done, Answers& answers) const {
  answers.oracle = answers.eager = forward_of(before);
  return answer(answers, {.lse = true, .mask = given(done.dropout_mask)});
}

Outcome Judging::answer_backward(const Call& before, const Call& done, Answers& answers) const {
  // The oracle finds its own out and lse. Eager reads those that the judged device read: whatever their
  // rounding does to the gradients, it does to both.
  const auto continued = [&](const Call& forward) {
    Call backward = backward_of(before);
    backward.out = forward.out;
    backward.lse = forward.lse;
    return backward;
  };
  answers.oracle = continued(answers.oracle);
  answers.eager = continued(done);
  return answer(answers, {.dbias = given(done.dbias), .dsink = given(done.dsink)});
}

void Judging::compare_forward(const Call& before, const Call& done, const Answers& answers) {
  const Sequences sequences(before);
  tally("out").add(done.out, answers.oracle.out, answers.eager.out,
                   blind_queries(sequences, answers.oracle, answers.oracle.out), true);
  if (given(done.lse)) compare_lse(sequences, done, answers.oracle);
  if (given(done.dropout_mask)) compare_mask(sequences, done, answers.oracle);
  if (given(before.k_new)) {
    compare_cache("k", done.k, answers.oracle.k, given(before.rotary_cos));
    compare_cache("v", done.v, answers.oracle.v, false);
  }
}

void Judging::compare_backward(const Call& before, const Call& done, const Answers& answers) {
  const Sequences sequences(before);
  const Call& oracle = answers.oracle;
  const Call& eager = answers.eager;
  tally("dq").add(done.dq, oracle.dq, eager.dq, blind_queries(sequences, oracle, oracle.dq), false);
  tally("dk").add(done.dk, oracle.dk, eager.dk, unseen_keys(sequences, oracle.dk), false);
  tally("dv").add(done.dv, oracle.dv, eager.dv, unseen_keys(sequences, oracle.dv), false);
  if (given(done.dbias)) tally("dbias").add(done.dbias, oracle.dbias, eager.dbias, {}, false);
  if (given(done.dsink)) tally("dsink").add(done.dsink, oracle.dsink, eager.dsink, {}, false);
}

void Judging::compare_lse(const Sequences& sequences, const Call& done, const Call& oracle) {
  if (verdict_.lse.name.empty()) verdict_.lse = {"lse", 0, lse_tolerance(done.q.dtype, 0, 0), 0};
  const std::vector<std::int64_t> seen = keys_seen(sequences, oracle.lse);
  for_each_row(done.lse, [&](std::int64_t row, std::int64_t offset) {
    const std::int64_t columns = done.lse.shape[done.lse.rank - 1];
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t index = row * columns + j;
      const double got = load(done.lse.data, FLASHWAVE_FP32, offset + j);
      const double want = load(oracle.lse.data, FLASHWAVE_FP32, index);
      const double bound = lse_tolerance(done.q.dtype, want, seen[static_cast<std::size_t>(index)]);
      if (got == want || (std::isnan(got) && std::isnan(want))) continue;
      const double error = std::fabs(got - want);
      if (std::isfinite(error) && error / bound > verdict_.lse.max_error / verdict_.lse.bound)
        verdict_.lse = {"lse", error, bound, 0};
      if (std::isfinite(want) && error <= bound) continue;
      fault(unwritten(done.lse, offset + j)
                ? fmt::format("{} was never written", place("lse", done.lse, index))
                : fmt::format("{} is {:.9g}, the oracle says {:.9g}: bound {:.3g}",
                              place("lse", done.lse, index), got, want, std::isfinite(want) ? bound : 0.0));
      return;
    }
  });
}

void Judging::compare_mask(const Sequences& sequences, const Call& done, const Call& oracle) {
  const flashwave_tensor& got = done.dropout_mask;
  for_each_row(got, [&](std::int64_t row, std::int64_t offset) {
    const Sequence& s = sequences[static_cast<std::size_t>(row / (got.shape[1] * got.shape[2]))];
    const bool counts = row % got.shape[2] < s.queries;
    for (std::int64_t j = 0; j < got.shape[3]; ++j) {
      const std::int64_t index = row * got.shape[3] + j;
      const int value = *at(got, offset + j), want = *at(oracle.dropout_mask, index);
      const bool slot = counts && s.leftpad <= j && j < s.keys;
      if (slot ? value == want : value <= 1) continue;
      fault(fmt::format("{} is {}, the oracle says {}", place("dropout_mask", got, index), value, want));
      return;
    }
  });
}

void Judging::compare_cache(const std::string& name, const flashwave_tensor& got,
                            const flashwave_tensor& want, bool turned) {
  const std::int64_t columns = got.shape[got.rank - 1];
  const std::size_t bytes = static_cast<std::size_t>(columns) * element_bytes(got.dtype);
  for_each_row(got, [&](std::int64_t row, std::int64_t offset) {
    if (std::memcmp(at(got, offset), at(want, row * columns), bytes) == 0) return;
    double largest = 0;
    for (std::int64_t j = 0; j < columns; ++j)
      largest =
          std::max(largest, std::fabs(static_cast<double>(load(want.data, want.dtype, row * columns + j))));
    for (std::int64_t j = 0; j < columns; ++j) {
      const double value = load(got.data, got.dtype, offset + j),
                   wanted = load(want.data, want.dtype, row * columns + j);
      // A turned key is computed in fp32, fused or not, and rounded once: its neighbour is right too.
      const double bound = turned ? ulp(got.dtype, std::fabs(wanted)) + 0x1p-21 * largest : 0;
      if (value == wanted || std::fabs(value - wanted) <= bound || (std::isnan(value) && std::isnan(wanted)))
        continue;
      fault(fmt::format("{} is {:.9g} in the cache after the append, the oracle's is {:.9g}",
                        place(name, got, row * columns + j), value, wanted));
      return;
    }
  });
}

// The tally of a tensor, to which another part is added. Tiny gradients are judged as closely as others.
Tally& Judging::tally(const std::string& name) {
  for (Tally& t : verdict_.tensors)
    if (t.name() == name) return t;
  if (!has_gradients(done_)) return verdict_.tensors.emplace_back(name, Rule{2, 1e-5});
  const double incoming =
      std::max(largest_size(before_.dout), given(before_.dlse) ? largest_size(before_.dlse) : 0.0);
  return verdict_.tensors.emplace_back(name, Rule{3, 1e-5 * std::min(1.0, incoming)});
}

// One sentence a tensor is enough.
void Judging::fault(std::string sentence) {
  const std::string tensor = sentence.substr(0, sentence.find_first_of("[ "));
  if (seen_faults_.insert(tensor).second) verdict_.faults.push_back(std::move(sentence));
}

}  // namespace

std::vector<Measured> Verdict::measured() const {
  std::vector<Measured> all;
  for (const Tally& t : tensors) {
    all.push_back({t.name(), t.max_error(), t.bound(), t.mean_error()});
    if (t.name() == "out" && !lse.name.empty()) all.push_back(lse);
  }
  return all;
}

Outcome judge(const Call& before, const Call& done, const JudgeOptions& options, Verdict& verdict) {
  return Judging(before, done, options, verdict).all();
}

}  // namespace tools
