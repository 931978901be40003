// The lengths a recipe denotes.
#include "base/random.hpp"
#include "problem/case.hpp"
#include "problem/visible.hpp"

namespace fw {
namespace {

// Zero now and then, else 1 .. longest.
std::int32_t ragged(SplitMix64& random, std::int64_t longest) {
  const bool none = random.below(8) == 0;
  const auto drawn = random.below(static_cast<std::uint64_t>(longest));
  return none || longest == 0 ? 0 : static_cast<std::int32_t>(1 + drawn);
}

// lens=zeros walks through four kinds: no keys, no queries, whole, neither.
bool lacks_keys(std::size_t b) { return b % 4 == 0 || b % 4 == 3; }
bool lacks_queries(std::size_t b) { return b % 4 == 1 || b % 4 == 3; }

void draw_lengths(Extents& out, const Case& c, std::int64_t longest_q, std::int64_t longest_k) {
  SplitMix64 random(c.seed);
  for (std::size_t b = 0; b < out.queries.size(); ++b) {
    // The three are drawn whether or not they are used, so that related lines share their lengths.
    const std::int32_t queries = ragged(random, longest_q);
    const std::int32_t keys = ragged(random, longest_k);
    const std::uint64_t padding = random.next();
    if (c.lens == Lens::random && queries_vary(c.problem)) out.queries[b] = queries;
    if (c.lens == Lens::random && keys_vary(c.problem)) out.keys[b] = keys;
    if (c.lens == Lens::zeros && queries_vary(c.problem) && lacks_queries(b)) out.queries[b] = 0;
    if (c.lens == Lens::zeros && keys_vary(c.problem) && lacks_keys(b)) out.keys[b] = 0;
    if (c.lens == Lens::listed) out.queries[b] = c.listed_q[b];
    if (c.lens == Lens::listed) out.keys[b] = c.listed_k[b];
    if (c.problem.leftpad)
      out.leftpad[b] = static_cast<std::int32_t>(padding % (out.keys[b] + std::uint64_t{1}));
  }
}

std::int32_t diagonal_of(const Case& c, const Extents& e, std::size_t b) {
  const Problem& p = c.problem;
  if (p.diagonal_per_batch && b < c.listed_diagonals.size()) return c.listed_diagonals[b];
  if (p.diagonal_given) return p.diagonal;
  return static_cast<std::int32_t>(default_diagonal({e.queries[b], e.keys[b] + p.append, e.leftpad[b], 0}));
}

}  // namespace

bool queries_vary(const Problem& p) { return p.lengths == Lengths::varlen || p.seqused_q; }
bool keys_vary(const Problem& p) { return p.lengths != Lengths::dense || p.seqused_k; }

Extents extents(const Case& c) {
  const Problem& p = c.problem;
  const auto batch = static_cast<std::size_t>(p.batch);
  const std::int64_t longest_k = p.seq_k - p.append;  // an append must still fit
  Extents out;
  out.queries.assign(batch, static_cast<std::int32_t>(p.seq_q));
  out.keys.assign(batch, static_cast<std::int32_t>(longest_k));
  out.leftpad.assign(batch, 0);
  draw_lengths(out, c, p.seq_q, longest_k);
  if (!c.listed_leftpad.empty()) out.leftpad = c.listed_leftpad;
  out.diagonals.resize(batch);
  for (std::size_t b = 0; b < batch; ++b) out.diagonals[b] = diagonal_of(c, out, b);
  return out;
}

}  // namespace fw
