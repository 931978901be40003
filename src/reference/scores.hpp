// Scores of a block of queries against a block of keys: from q.k to what the softmax sees.
#pragma once

#include "reference/attention.hpp"
#include "reference/matrix.hpp"

namespace fw::reference {

template <class Real>
struct Scores {
  Matrix<Real> s;                // in: q.k, out: the score, -inf where hidden
  Matrix<std::uint8_t> visible;  // 0 where the score is -inf
  Matrix<Real> slope;            // of softcap: d(capped)/d(uncapped); empty without softcap
};

template <class Real>
void finish_scores(Scores<Real>& scores, const Head& head, Span queries, Span slots);

// Without a sink -inf.
template <class Real>
Real sink_of(const Head& head);

template <class Real>
void load_queries(Matrix<Real>& to, const Head& head, Span queries);
// Rows of q, out, dout, as they are.
template <class Real>
void load_rows(Matrix<Real>& to, const View& view, const Head& head, Span queries);
// Of k or v.
template <class Real>
void load_slots(Matrix<Real>& to, const View& view, const Head& head, Span slots);

// Where bias or dbias has the element of (b, h, i, slot 0); dimensions of size 1 broadcast.
int64_t bias_index(const View& view, int64_t b, int64_t h, int64_t i);

}  // namespace fw::reference
