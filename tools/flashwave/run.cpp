// flashwave run: attention on the tensors of a safetensors file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "support/judge.hpp"
#include "support/members.hpp"
#include "support/outputs.hpp"
#include "support/safetensors.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

using Call = flashwave_attention;

struct Options {
  std::string in, out, device = "cpu", pass;
  bool causal = false;
  std::vector<int> window;
  std::optional<int> diagonal;
  std::optional<float> scale;
  float softcap = 0, dropout = 0;
  std::uint64_t seed = 0, offset = 0;
  int splits = 0;
  bool deterministic = false, rotary_interleaved = false, mask = false, check = false, json = false;
};

// Names of tensors begin with those of their attention: "layer0.q" is the q of "layer0.".
std::vector<std::string> prefixes(const Safetensors& file) {
  std::set<std::string> found;
  for (const StoredTensor& t : file.header().tensors) {
    const std::string& name = t.name;
    if (name == "q" || (name.size() > 1 && name.substr(name.size() - 2) == ".q"))
      found.insert(name.substr(0, name.size() - 1));
  }
  return {found.begin(), found.end()};
}

// A misspelt name must not go unseen.
Outcome check_names(const Safetensors& file, const std::vector<std::string>& attentions,
                    const std::string& path) {
  const auto known = [](const std::string& name) {
    return name == "expected" || std::any_of(members().begin(), members().end(),
                                             [&](const Member& member) { return name == member.name; });
  };
  for (const StoredTensor& t : file.header().tensors)
    if (std::none_of(attentions.begin(), attentions.end(), [&](const std::string& prefix) {
          return t.name.starts_with(prefix) && known(t.name.substr(prefix.size()));
        }))
      return invalid(fmt::format(
          "{} holds {}, which is no tensor of an attention; they are named as in flashwave.h", path, t.name));
  return {};
}

// The longest sequence, if the lengths make sense; if not, the library says why.
std::int64_t longest(const flashwave_tensor& cu_seqlens) {
  if (cu_seqlens.rank != 1 || cu_seqlens.dtype != FLASHWAVE_INT32) return 0;
  const auto ends = read_ints(cu_seqlens);
  std::int64_t most = 0;
  for (std::size_t b = 1; b < ends.size(); ++b)
    most = std::max<std::int64_t>(most, std::int64_t{ends[b]} - ends[b - 1]);
  return most;
}

// What each attention of the file is asked; its dout, if there is one, is for the backward pass.
Outcome read_inputs(const Options& o, Safetensors& file, const std::string& prefix, Call& call) {
  call = FLASHWAVE_INIT(Call);
  for (const Member& member : members()) {
    const std::string name = prefix + std::string(member.name);
    const bool input = member.part == Part::input || member.part == Part::incoming;
    if (input && file.has(name)) TOOLS_TRY(file.tensor(name, call.*member.tensor));
  }
  for (const char* needed : {"q", "k", "v"})
    if (!file.has(prefix + needed))
      return invalid(fmt::format("{} holds no tensor '{}{}'", o.in, prefix, needed));
  if (call.q.rank < 3 || call.k.rank < 3 || call.v.rank < 3)
    return invalid(fmt::format(
        "'{}q', k and v have at least 3 dimensions, the last two being heads and elements", prefix));
  call.device = o.device.c_str();
  call.has_window = o.causal || !o.window.empty();
  call.window_left = o.window.empty() ? FLASHWAVE_OPEN : o.window[0];
  call.window_right = o.causal ? 0 : o.window.empty() ? FLASHWAVE_OPEN : o.window[1];
  call.has_diagonal = o.diagonal.has_value();
  call.diagonal = o.diagonal.value_or(0);
  call.has_scale = o.scale.has_value();
  call.scale = o.scale.value_or(0);
  call.softcap = o.softcap;
  call.dropout = o.dropout;
  call.seed = o.seed;
  call.offset = o.offset;
  call.num_splits = o.splits;
  call.deterministic = o.deterministic;
  call.rotary_interleaved = o.rotary_interleaved;
  call.max_seq_q = longest(call.cu_seqlens_q);
  if (!given(call.block_table)) call.max_seq_k = longest(call.cu_seqlens_k);
  return {};
}

struct Attention {
  std::string prefix;
  Call inputs, forward, backward;
  bool has_backward = false;
  Arena memory{Memory::poisoned};
};

Outcome compute(const Options& o, Attention& a) {
  a.has_backward = given(a.inputs.dout) && o.pass != "fwd";
  if (o.pass == "bwd" && !a.has_backward)
    return invalid(fmt::format("the backward pass needs a tensor '{}dout'", a.prefix));
  a.forward = forward_of(a.inputs);
  const bool mask = o.mask && given(a.inputs.q);
  add_outputs(a.forward, {.lse = true, .mask = mask}, {}, a.memory);
  TOOLS_TRY(run_on(o.device.c_str(), a.forward, Memory::plain));
  if (!a.has_backward) return {};
  a.backward = backward_of(a.inputs);
  a.backward.out = a.forward.out;
  a.backward.lse = a.forward.lse;
  const bool float_bias = given(a.inputs.bias) && a.inputs.bias.dtype != FLASHWAVE_UINT8;
  add_outputs(a.backward, {.dbias = float_bias, .dsink = given(a.inputs.sink)}, {}, a.memory);
  return run_on(o.device.c_str(), a.backward, Memory::plain);
}

// Everything that was written; the caches too when keys were appended.
void collect(const Attention& a, std::vector<NamedTensor>& results) {
  const auto take = [&](const Call& done, const Member& member) {
    const flashwave_tensor& t = done.*member.tensor;
    if (given(t)) results.push_back({a.prefix + std::string(member.name), t});
  };
  for (const Member& member : members()) {
    const bool cache = given(a.inputs.k_new) && (member.name == "k" || member.name == "v");
    if (member.part == Part::answer || member.part == Part::extra || cache) take(a.forward, member);
    if (member.part == Part::gradient && a.has_backward) take(a.backward, member);
  }
}

// How far the answer is from one the file brought along, for the reader to judge.
std::optional<double> distance_to_expected(Safetensors& file, const Attention& a) {
  const std::string name = a.prefix + "expected";
  flashwave_tensor expected;
  if (!file.has(name) || !file.tensor(name, expected).ok()) return std::nullopt;
  if (shape_of(expected) != shape_of(a.forward.out) || element_bytes(expected.dtype) < 2) return std::nullopt;
  double most = 0;
  for (std::int64_t i = 0; i < elements(expected); ++i)
    most = std::max(most, std::fabs(double{load(expected.data, expected.dtype, i)} -
                                    double{load(a.forward.out.data, a.forward.out.dtype, i)}));
  return most;
}

void print_verdict(const Attention& a, const Verdict& verdict, std::optional<double> expected, bool json) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::object();
  for (const Measured& m : verdict.measured()) {
    tensors[m.name] = {{"max_error", m.max_error}, {"bound", m.bound}, {"mean_error", m.mean_error}};
    if (!json) fmt::print("{:<24} error {:.2e} of {:.2e} allowed\n", a.prefix + m.name, m.max_error, m.bound);
  }
  if (!json && expected) fmt::print("{:<24} differs by {:.2e} at most\n", a.prefix + "expected", *expected);
  if (!json)
    for (const std::string& fault : verdict.faults) fmt::print("{:<24} WRONG: {}\n", a.prefix, fault);
  if (!json) return;
  nlohmann::ordered_json line = {
      {"prefix", a.prefix}, {"passed", verdict.passed()}, {"tensors", tensors}, {"faults", verdict.faults}};
  if (expected) line["expected_distance"] = *expected;
  fmt::print("{}\n", line.dump());
}

Outcome run_file(const Options& o, bool& all_right) {
  if (!o.window.empty() && o.causal && o.window[1] != 0)
    return invalid("--causal with a --window whose right side is not 0: causal means 0 there");
  Safetensors file;
  TOOLS_TRY(file.read(o.in));
  const auto names = prefixes(file);
  if (names.empty()) return invalid(fmt::format("{} holds no tensor named q, or ending in .q", o.in));
  TOOLS_TRY(check_names(file, names, o.in));
  std::deque<Attention> attentions;
  std::vector<NamedTensor> results;
  for (const std::string& prefix : names) {
    Attention& a = attentions.emplace_back();
    a.prefix = prefix;
    TOOLS_TRY(read_inputs(o, file, prefix, a.inputs));
    TOOLS_TRY(compute(o, a));
    collect(a, results);
  }
  TOOLS_TRY(write_safetensors(o.out, results, file.header().metadata));
  if (!o.json)
    fmt::print("wrote {}: {} tensors of {} attentions\n", o.out, results.size(), attentions.size());
  for (const Attention& a : attentions) {
    if (!o.check) break;
    Verdict verdict;
    TOOLS_TRY(judge(a.inputs, a.forward, {}, verdict));
    if (a.has_backward) TOOLS_TRY(judge(a.inputs, a.backward, {}, verdict));
    print_verdict(a, verdict, distance_to_expected(file, a), o.json);
    all_right = all_right && verdict.passed();
  }
  return {};
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("run", "Attention on the tensors of a safetensors file");
  verb->add_option("--in", o->in, "Tensors by name: q, k, v and what else there is (below)")->required();
  verb->add_option("--out", o->out, "Gets out and lse, and the gradients if there is a dout")->required();
  verb->add_option("--device", o->device, "The device")->capture_default_str();
  verb->add_option("--pass", o->pass, "Only fwd, or bwd (after fwd); else bwd when there is a dout")
      ->check(CLI::IsMember({"fwd", "bwd"}));
  verb->add_flag("--causal", o->causal, "Rows see no key behind their own position");
  verb->add_option("--window", o->window, "Keys a row sees to its left and right; -1 is open")
      ->expected(2)
      ->delimiter(',');
  verb->add_option("--diagonal", o->diagonal, "Position of the first row; else the last rows and keys meet");
  verb->add_option("--scale", o->scale, "Of q.k; else D^-0.5");
  verb->add_option("--softcap", o->softcap, "c of c*tanh(score/c); 0 is off");
  verb->add_option("--dropout", o->dropout, "Probability of dropping a weight");
  verb->add_option("--seed", o->seed, "Of dropout")->check(not_negative);
  verb->add_option("--offset", o->offset, "Of dropout");
  verb->add_flag("--mask", o->mask, "Also write dropout_mask");
  verb->add_option("--splits", o->splits, "Key ranges computed apart; 0 lets the library choose");
  verb->add_flag("--deterministic", o->deterministic, "Equal bits whatever the batch");
  verb->add_flag("--rotary-interleaved", o->rotary_interleaved, "Rotary pairs are neighbours, not halves");
  verb->add_flag("--check", o->check, "Compare with the oracle; exit 1 when an error passes its bound");
  verb->add_flag("--json", o->json, "A JSON object for each attention checked");
  verb->footer(
      R"(Tensors of the input: q, k, v, dout, dlse, bias, sink, alibi, cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k,
diagonals, cache_seqlens, block_table, cache_batch_idx, leftpad, k_new, v_new, rotary_cos, rotary_sin, rotary_seqlens.
A file may hold several attentions: layer0.q, layer0.k, ..., layer1.q, ...

Examples:
  flashwave run --in qkv.safetensors --out answer.safetensors --causal --check
  flashwave run --in qkv.safetensors --out answer.safetensors --window 128,0 --softcap 30)");
  verb->callback([o, &chosen] {
    chosen.run = [o] {
      bool all_right = true;
      const Exit exit = report(run_file(*o, all_right), o->json);
      return exit == Exit::ok && !all_right ? Exit::check_failed : exit;
    };
  });
}

}  // namespace tools
