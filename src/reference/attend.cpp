#include "reference/attend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fw::reference {
namespace {

// s becomes exp(s) / (sum of exp(s) + exp(sink)); returns the logarithm of the denominator.
template <class Real>
Real softmax(Real* s, int64_t count, Real sink) {
  Real top = sink;
  for (int64_t j = 0; j < count; ++j) top = std::max(top, s[j]);
  if (top == -std::numeric_limits<Real>::infinity()) top = 0;
  Real total = 0;
  for (int64_t j = 0; j < count; ++j) total += s[j] = std::exp(s[j] - top);
  total += std::exp(sink - top);
  if (total == 0) return -std::numeric_limits<Real>::infinity();
  for (int64_t j = 0; j < count; ++j) s[j] /= total;
  return top + std::log(total);
}

template <class Real>
void drop(Real* weights, const Head& head, int64_t query, Span slots) {
  const Dropout& dropout = head.attention.dropout;
  if (!dropout.active()) return;
  const auto kept = dropout.kept(head.sequence.batch, head.q, query, slots.begin, slots.end);
  for (int64_t j = 0; j < slots.size(); ++j) weights[j] = kept[j] ? weights[j] * dropout.keep_scale() : 0;
}

}  // namespace

template <class Real>
void attend(Attended<Real>& to, const Head& head, Span queries) {
  const DType narrow = head.attention.narrow;
  const Span slots = seen_by(head, queries);
  Scores<Real> scores;
  Matrix<Real> q, k, kt, v;
  load_queries(q, head, queries);
  scores.s.reset(queries.size(), slots.size());
  for (const Span block : blocks(slots, key_block)) {
    load_slots(k, head.call().k, head, block);
    transpose(kt, k);
    accumulate(scores.s, block.begin - slots.begin, columns(q, 0, q.cols), kt);
  }
  finish_scores(scores, head, queries, slots);

  Matrix<Real>& weights = scores.s;
  to.lse.resize(queries.size());
  for (int64_t i = 0; i < queries.size(); ++i) {
    to.lse[i] = softmax(weights.row(i), slots.size(), sink_of<Real>(head));
    drop(weights.row(i), head, queries.begin + i, slots);
    for (int64_t j = 0; j < slots.size(); ++j) weights.row(i)[j] = rounded(weights.row(i)[j], narrow);
  }

  to.out.reset(queries.size(), head.attention.dim_v);
  for (const Span block : blocks(slots, key_block)) {
    load_slots(v, head.call().v, head, block);
    accumulate(to.out, 0, columns(weights, scores.visible, block.begin - slots.begin, block.size()), v);
  }
  for (Real& x : to.out.elements) x = rounded(x, narrow);
}

template void attend(Attended<float>&, const Head&, Span);
template void attend(Attended<double>&, const Head&, Span);

}  // namespace fw::reference
