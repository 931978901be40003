#include "reference/scores.hpp"

#include <cmath>
#include <limits>

#include "reference/rotary.hpp"

namespace fw::reference {
namespace {

template <class Real>
Real alibi_slope(const Head& head) {
  const View& alibi = head.call().alibi;
  if (!alibi.given()) return 0;
  const int64_t batch = alibi.rank == 2 ? head.sequence.batch * alibi.stride[0] : 0;
  return static_cast<Real>(load(alibi, batch + head.q * alibi.stride[alibi.rank - 1]));
}

// One score. In eager each line rounds.
template <class Real>
struct Steps {
  const Head& head;
  Real scale, cap, slope;
  DType narrow;

  explicit Steps(const Head& h)
      : head(h),
        scale(static_cast<Real>(h.attention.scale)),
        cap(h.call().softcap),
        slope(alibi_slope<Real>(h)),
        narrow(h.attention.narrow_score) {}

  Real finish(Real dot, int64_t query, int64_t slot, Real bias, Real* softcap_slope) const {
    const Sequence& sequence = head.sequence;
    Real s = rounded(dot, narrow);
    s = rounded(scale * s, narrow);
    if (cap > 0) {
      const Real t = std::tanh(s / cap);
      s = rounded(cap * t, narrow);
      *softcap_slope = 1 - t * t;
    }
    if (slope != 0) {
      const int64_t distance = query + sequence.diagonal - (slot - sequence.leftpad);
      s = rounded(s - slope * static_cast<Real>(std::abs(distance)), narrow);
    }
    if (head.call().bias.given()) s = rounded(s + bias, narrow);
    return s;
  }
};

template <class Real>
constexpr Real hidden = -std::numeric_limits<Real>::infinity();

}  // namespace

template <class Real>
void finish_scores(Scores<Real>& scores, const Head& head, Span queries, Span slots) {
  const View& bias = head.call().bias;
  const bool softcap = head.call().softcap > 0, boolean = bias.dtype == DType::uint8;
  const Steps<Real> steps(head);
  scores.visible.reset(queries.size(), slots.size());
  scores.slope.reset(softcap ? queries.size() : 0, slots.size());
  for (int64_t i = 0; i < queries.size(); ++i) {
    const int64_t query = queries.begin + i;
    const Span seen = seen_by(head, query);
    const int64_t bias_row = bias.given() ? bias_index(bias, head.sequence.batch, head.q, query) : 0;
    for (int64_t j = 0; j < slots.size(); ++j) {
      const int64_t slot = slots.begin + j;
      Real& s = scores.s.row(i)[j];
      bool visible = seen.begin <= slot && slot < seen.end;
      Real added = 0;
      if (visible && boolean) visible = static_cast<const std::uint8_t*>(bias.data)[bias_row + slot] != 0;
      if (visible && bias.given() && !boolean) added = static_cast<Real>(load(bias, bias_row + slot));
      Real unused;
      s = visible ? steps.finish(s, query, slot, added, softcap ? &scores.slope.row(i)[j] : &unused)
                  : hidden<Real>;
      scores.visible.row(i)[j] = s != hidden<Real>;
    }
  }
}

template <class Real>
Real sink_of(const Head& head) {
  const View& sink = head.call().sink;
  return sink.given() ? static_cast<Real>(load(sink, head.q * sink.stride[0])) : hidden<Real>;
}

template <class Real>
void load_queries(Matrix<Real>& to, const Head& head, Span queries) {
  to.reset(queries.size(), head.attention.dim_qk);
  for (int64_t i = 0; i < to.rows; ++i) load_query(to.row(i), head, queries.begin + i);
}

template <class Real>
void load_rows(Matrix<Real>& to, const View& view, const Head& head, Span queries) {
  to.reset(queries.size(), view.shape[view.rank - 1]);
  for (int64_t i = 0; i < to.rows; ++i)
    load_row(to.row(i), view, row_index(view, head.sequence.first_query + queries.begin + i, head.q),
             to.cols);
}

template <class Real>
void load_slots(Matrix<Real>& to, const View& view, const Head& head, Span slots) {
  to.reset(slots.size(), view.shape[view.rank - 1]);
  for (int64_t j = 0; j < to.rows; ++j)
    load_row(to.row(j), view, row_index(view, key_row(head.call(), head.sequence, slots.begin + j), head.k()),
             to.cols);
}

int64_t bias_index(const View& view, int64_t b, int64_t h, int64_t i) {
  const int64_t at[] = {b, h, i};
  int64_t index = 0;
  for (int d = 0; d < 3; ++d)
    if (view.shape[d] != 1) index += at[d] * view.stride[d];
  return index;
}

template void finish_scores(Scores<float>&, const Head&, Span, Span);
template void finish_scores(Scores<double>&, const Head&, Span, Span);
template float sink_of(const Head&);
template double sink_of(const Head&);
template void load_queries(Matrix<float>&, const Head&, Span);
template void load_queries(Matrix<double>&, const Head&, Span);
template void load_rows(Matrix<float>&, const View&, const Head&, Span);
template void load_rows(Matrix<double>&, const View&, const Head&, Span);
template void load_slots(Matrix<float>&, const View&, const Head&, Span);
template void load_slots(Matrix<double>&, const View&, const Head&, Span);

}  // namespace fw::reference
