#include "api/explain.hpp"

#include <cstdio>
#include <string_view>

#include "api/plans.hpp"
#include "problem/case.hpp"

namespace fw::api {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string memory(std::size_t bytes) {
  if (bytes < 10240) return number(static_cast<std::int64_t>(bytes)) + " B";
  const double kib = static_cast<double>(bytes) / 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", kib < 10240 ? kib : kib / 1024, kib < 10240 ? "KiB" : "MiB");
  return text;
}

// Two columns: a label, and what there is to say about it.
class Lines {
 public:
  explicit Lines(std::string& text) : text_(text) {}
  void title(std::string_view name) { text_.append(name).append("\n"); }
  void add(std::string_view label, std::string_view said) {
    text_.append("  ").append(label);
    text_.append(label.size() < width ? width - label.size() : 1, ' ').append(said).append("\n");
  }

 private:
  static constexpr std::size_t width = 14;
  std::string& text_;
};

std::string side(int keys) { return keys == open_side ? "all" : number(std::int64_t{keys}); }

std::string mask_of(const Problem& p) {
  std::string said = p.left == open_side && p.right == open_side ? "every key"
                     : p.left == open_side && p.right == 0
                         ? "causal"
                         : side(p.left) + " before, " + side(p.right) + " after";
  if (p.diagonal_per_batch) return said + ", a diagonal of each sequence";
  if (p.diagonal_given) return said + ", diagonal " + number(std::int64_t{p.diagonal});
  return said + ", bottom-right aligned";
}

std::string bias_of(const Problem& p) {
  return std::string(p.bias.dtype == DType::uint8 ? "bool" : name_of(p.bias.dtype)) + " (" +
         (p.bias.batch ? "B" : "1") + "," + (p.bias.head ? "Hq" : "1") + "," + (p.bias.query ? "Sq" : "1") +
         ",Sk)";
}

std::string lengths_of(const Problem& p) {
  std::string said = p.lengths == Lengths::varlen  ? "varlen: cu_seqlens"
                     : p.lengths == Lengths::cache ? "cache: cache_seqlens"
                                                   : "dense";
  if (p.seqused_q) said += ", seqused_q";
  if (p.seqused_k) said += ", seqused_k";
  return said;
}

std::string heads_of(const Problem& p) {
  if (p.group() == 1) return number(p.heads_q) + ", each its own keys";
  return number(p.heads_q) + " share " + number(p.heads_k) + ", " + number(p.group()) +
         " packed into the rows of a tile";
}

void add_scores(const Problem& p, Lines& lines) {
  lines.add("scale", number(p.scale_or_default()));
  if (p.softcap != 0) lines.add("softcap", number(p.softcap));
  if (p.alibi != Alibi::none)
    lines.add("alibi", p.alibi == Alibi::per_head ? "slopes (Hq)" : "slopes (B,Hq)");
  if (p.bias.given()) lines.add("bias", bias_of(p));
  lines.add("mask", mask_of(p));
  if (p.sink != DType::none) lines.add("sink", name_of(p.sink));
  if (p.dropout != 0) lines.add("dropout", number(p.dropout));
}

void add_cache(const Problem& p, Lines& lines) {
  if (p.page_size) lines.add("paged", number(p.page_size) + " slots a page");
  if (p.append) lines.add("append", number(p.append) + " keys a sequence, written first");
  if (p.rotary.dim)
    lines.add("rotary", number(std::int64_t{p.rotary.dim}) + " elements, " +
                            (p.rotary.interleaved ? "interleaved" : "in halves") + ", " +
                            std::string(name_of(p.rotary.dtype)));
  if (p.batch_index) lines.add("cache rows", "by cache_batch_idx");
  if (p.leftpad) lines.add("leftpad", "first visible slot of each sequence");
}

void add_wishes(const Problem& p, Lines& lines) {
  std::string said = p.backward() ? "dq, dk, dv" : "out";
  if (p.want_lse) said += ", lse";
  if (p.want_mask) said += ", dropout mask";
  if (p.want_dbias) said += ", dbias";
  if (p.want_dsink) said += ", dsink";
  lines.add("results", said);
  if (p.want_dlse) lines.add("dlse", "a gradient of lse comes in");
  if (p.deterministic) lines.add("deterministic", "equal bits, splits independent of the batch");
}

void add_features(const Problem& p, Lines& lines) {
  lines.add("heads", heads_of(p));
  lines.add("lengths", lengths_of(p));
  add_scores(p, lines);
  add_cache(p, lines);
  add_wishes(p, lines);
}

void add_plan(const Plan& plan, Lines& lines) {
  lines.add("kernel", plan.instance);
  lines.add("tiles",
            number(std::int64_t{plan.tile_q}) + " rows x " + number(std::int64_t{plan.tile_k}) + " keys");
  lines.add("loader", plan.loader);
  const bool chosen = plan.problem.splits == 0;
  std::string splits = number(std::int64_t{plan.splits}) + (chosen ? ", chosen" : ", as asked");
  if (plan.split_keys) splits += ", " + number(plan.split_keys) + " keys each";
  lines.add("splits", splits);
  if (plan.problem.backward())
    lines.add("chunks", number(std::int64_t{plan.chunks}) + " key ranges with a dq of their own");
  lines.add("workspace",
            memory(plan.workspace) +
                (plan.partial_bytes ? ", of it " + memory(plan.partial_bytes) + " partials" : "") + ", and " +
                memory(plan.thread_bytes) + " a thread");
}

void add_candidates(const Plan& plan, Lines& lines) {
  for (const Candidate& candidate : plan.candidates) {
    const bool taken = candidate.declined.empty() && candidate.name == plan.instance;
    lines.add(candidate.name, !candidate.declined.empty() ? "declines: " + candidate.declined
                              : taken ? "taken"
                                      : "possible, modelled " + number(candidate.cost * 1e6) + " us");
  }
}

}  // namespace

Status explain(const Target& target, const Problem& problem, std::string& text) {
  text.clear();
  Lines lines(text);
  Case asked;
  for (const Problem& pass : passes(problem)) {
    Plan plan;
    FW_TRY(make_plan(target, pass, plan));
    asked.problem = pass;
    lines.title("problem " + print(asked));
    lines.title("device " + target.device.name);
    lines.add("is", target.device.description);
    lines.add("isa", target.device.isa);
    lines.title("plan");
    add_plan(plan, lines);
    lines.title("features");
    add_features(pass, lines);
    lines.title("candidates");
    add_candidates(plan, lines);
  }
  return {};
}

}  // namespace fw::api
