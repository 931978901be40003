#include "plan/choose.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "plan/splits.hpp"
#include "plan/workspace.hpp"

namespace fw {
namespace {

constexpr double partial_bytes_per_second = 5e9;  // written once, read once

// Keys an average query sees, from a few queries spread over the sequence.
double mean_keys(const Problem& p) {
  constexpr int samples = 16;
  const auto keys = static_cast<double>(p.seq_k);
  const double diagonal = p.diagonal_given ? p.diagonal : keys - static_cast<double>(p.seq_q);
  double sum = 0;
  for (int i = 0; i < samples; ++i) {
    const double position = (i + 0.5) / samples * static_cast<double>(p.seq_q) + diagonal;
    const double begin = p.left < 0 ? 0 : std::max(0.0, position - p.left);
    const double end = p.right < 0 ? keys : std::min(keys, position + p.right + 1);
    sum += std::max(0.0, end - begin);
  }
  return sum / samples;
}

double partial_bytes(const Problem& p, int splits) {
  const auto rows =
      static_cast<double>(p.batch) * static_cast<double>(p.seq_q) * static_cast<double>(p.heads_q);
  return splits > 1 ? 2 * rows * splits * 4.0 * static_cast<double>(p.dim_v + 1) : 0;
}

// The four ways an instance could take the problem. One of them is right for it; the others say why they are
// not.
void list_candidates(const Problem& p, const Instance& instance, const Splits& splits,
                     std::vector<Candidate>& out) {
  for (const bool with_scores : {false, true})
    for (const bool split : {false, true}) {
      if (split && !p.forward()) continue;
      Candidate candidate;
      candidate.name = instance.name + (with_scores ? "/scored" : "/plain") + (split ? "/split" : "");
      candidate.cost =
          instance.seconds + (split ? partial_bytes(p, splits.count) / partial_bytes_per_second : 0);
      if (!instance.missing.empty())
        candidate.declined = instance.missing;
      else if (scored(p) && !with_scores)
        candidate.declined = "the problem has softcap, ALiBi, bias, dropout or scale 0";
      else if (!scored(p) && with_scores)
        candidate.declined = "the problem has no softcap, ALiBi, bias, dropout or scale 0";
      else if (split != (splits.count > 1))
        candidate.declined = splits.reason;
      out.push_back(std::move(candidate));
    }
}

const Candidate* cheapest(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates)
    if (candidate.declined.empty() && (best == nullptr || candidate.cost < best->cost)) best = &candidate;
  return best;
}

}  // namespace

bool scored(const Problem& p) {
  return p.softcap != 0 || p.alibi != Alibi::none || p.bias.given() || p.dropout != 0 ||
         p.scale_or_default() == 0;
}

std::string loader_of(const Problem& p) {
  const std::string keys = p.page_size > 0 ? "paged" : p.lengths == Lengths::cache ? "cache" : "dense";
  if (p.lengths != Lengths::varlen) return keys;
  return p.page_size > 0 ? "varlen queries, paged keys" : "varlen";
}

double modelled_flops(const Problem& p) {
  const double pairs = static_cast<double>(p.batch) * static_cast<double>(p.heads_q) *
                       static_cast<double>(p.seq_q) * mean_keys(p);
  const auto d = static_cast<double>(p.dim_qk), dv = static_cast<double>(p.dim_v);
  return pairs * ((p.forward() ? 2 * (d + dv) : 0) + (p.backward() ? 2 * (3 * d + 2 * dv) : 0));
}

Status choose(const Problem& p, std::span<const Instance> instances, Plan& out) {
  const Splits splits = choose_splits(p);
  out = {};
  out.problem = p;
  out.loader = loader_of(p);
  for (const Instance& instance : instances) list_candidates(p, instance, splits, out.candidates);
  const Candidate* const best = cheapest(out.candidates);
  if (best == nullptr) {
    std::string reasons;
    for (const Instance& instance : instances)
      reasons += say(reasons.empty() ? "" : "; ", instance.name, ": ", instance.missing);
    return unavailable("no kernel of this build can run here: " + reasons);
  }
  out.instance = best->name;
  out.splits = splits.count;
  out.split_keys = splits.keys;
  out.chunks = p.backward() ? choose_chunks(p) : 1;
  return reckon_workspace(out);
}

}  // namespace fw
