#include "api/explain.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "api/plans.hpp"
#include "base/text.hpp"
#include "problem/case.hpp"

namespace fw::api {
namespace {

// Titles, and below each two columns: a label and what there is to say about it.
class Page {
 public:
  explicit Page(std::string& text) : text_(text) { text_.clear(); }
  template <class... Parts>
  void title(const Parts&... parts) {
    text_ += say(parts..., "\n");
    width_ = 14;
  }
  void widen(std::size_t width) { width_ = std::max(width_, width); }
  template <class... Parts>
  void add(std::string_view label, const Parts&... parts) {
    const std::string gap(label.size() < width_ ? width_ - label.size() : 1, ' ');
    text_ += say("  ", label, gap, parts..., "\n");
  }

 private:
  std::size_t width_ = 0;
  std::string& text_;
};

std::string memory(std::size_t bytes) {
  constexpr double kib = 1024, mib = 1024 * kib;
  char text[32];
  if (bytes < 10 * kib) return say(bytes, " B");
  const bool small = bytes < 10 * mib;
  std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / (small ? kib : mib),
                small ? "KiB" : "MiB");
  return text;
}

std::string window_of(const Problem& p) {
  if (p.left == open_side && p.right == open_side) return "none: every key is visible";
  if (p.left == open_side && p.right == 0) return "causal";
  const auto side = [](int keys) { return keys == open_side ? std::string("any number of") : say(keys); };
  return say("a window of ", side(p.left), " keys before and ", side(p.right), " after");
}

std::string diagonal_of(const Problem& p) {
  if (p.diagonal_per_batch) return "given for each sequence";
  if (p.diagonal_given) return say(p.diagonal);
  return "bottom-right: the last row stands at the last key";
}

void add_scores(const Problem& p, Page& page) {
  page.add("scale", p.scale_or_default(), p.scale ? "" : ", from the head dimension");
  if (p.softcap != 0) page.add("softcap", p.softcap);
  if (p.alibi != Alibi::none) page.add("alibi", "slopes ", p.alibi == Alibi::per_head ? "(Hq)" : "(B,Hq)");
  if (p.bias.given())
    page.add("bias", p.bias.dtype == DType::uint8 ? "bool" : name_of(p.bias.dtype), " (",
             p.bias.batch ? "B" : "1", ",", p.bias.head ? "Hq" : "1", ",", p.bias.query ? "Sq" : "1", ",Sk)");
  page.add("mask", window_of(p));
  page.add("diagonal", diagonal_of(p));
  if (p.sink != DType::none) page.add("sink", name_of(p.sink), ", joins once at the end");
  if (p.dropout != 0) page.add("dropout", p.dropout);
}

void add_keys(const Problem& p, Page& page) {
  page.add("heads", p.heads_q,
           p.group() == 1 ? std::string(", each with its own keys")
                          : say(" over ", p.heads_k, ": ", p.group(), " share the keys of one"));
  page.add("lengths",
           p.lengths == Lengths::varlen  ? "varlen, by cu_seqlens"
           : p.lengths == Lengths::cache ? "cache, by cache_seqlens"
                                         : "dense",
           p.seqused_q ? ", seqused_q" : "", p.seqused_k ? ", seqused_k" : "");
  if (p.page_size) page.add("paged", p.page_size, " slots a page");
  if (p.append) page.add("append", p.append, " new keys a sequence, written first");
  if (p.rotary.dim)
    page.add("rotary", p.rotary.dim, p.rotary.interleaved ? " interleaved" : " halved", " elements, ",
             name_of(p.rotary.dtype));
  if (p.batch_index) page.add("cache rows", "by cache_batch_idx");
  if (p.leftpad) page.add("leftpad", "slots before it are hidden");
}

void add_results(const Problem& p, Page& page) {
  page.add("results", p.backward() ? "dq, dk, dv" : "out", p.want_lse ? ", lse" : "",
           p.want_mask ? ", mask" : "", p.want_dbias ? ", dbias" : "", p.want_dsink ? ", dsink" : "");
  if (p.want_dlse) page.add("dlse", "a gradient of lse comes in");
  if (p.deterministic) page.add("deterministic", "splits do not depend on the batch");
}

void add_plan(const Plan& plan, Page& page) {
  page.add("kernel", plan.instance);
  if (plan.tile_q) page.add("tiles", plan.tile_q, " rows x ", plan.tile_k, " keys");
  page.add("loader", plan.loader);
  page.add("splits", plan.splits, plan.problem.splits ? ", as asked" : ", chosen",
           plan.split_keys ? say(", of ", plan.split_keys, " keys") : std::string());
  if (plan.problem.backward()) page.add("chunks", plan.chunks, " key ranges, each with a share of dq");
  page.add("workspace", memory(plan.workspace), plan.partial_bytes ? ", partials of splits in it" : "");
  page.add("scratch", memory(plan.thread_bytes), " a thread");
}

void add_candidates(const Plan& plan, Page& page) {
  for (const Candidate& candidate : plan.candidates) page.widen(candidate.name.size() + 1);
  for (const Candidate& candidate : plan.candidates) {
    if (!candidate.declined.empty())
      page.add(candidate.name, "declines: ", candidate.declined);
    else
      page.add(candidate.name, candidate.name == plan.instance ? "taken" : "possible", ", modelled ",
               static_cast<std::int64_t>(candidate.cost * 1e6), " us");
  }
}

}  // namespace

Status explain(const Target& target, const Problem& problem, std::string& text) {
  Page page(text);
  for (const Problem& pass : passes(problem)) {
    Plan plan;
    FW_TRY(make_plan(target, pass, plan));
    Case asked;
    asked.problem = pass;
    page.title("problem ", print(asked));
    page.title("device ", target.device.name, ": ", target.device.description);
    page.title("plan");
    add_plan(plan, page);
    page.title("features");
    add_keys(pass, page);
    add_scores(pass, page);
    add_results(pass, page);
    if (!plan.candidates.empty()) page.title("candidates");
    add_candidates(plan, page);
  }
  return {};
}

}  // namespace fw::api
