// Attention of one head, materialised for a block of queries: softmax of the scores, then weights times
// values.
#pragma once

#include "reference/scores.hpp"

namespace fw::reference {

inline constexpr int64_t query_block = 64;  // queries whose scores are materialised together
inline constexpr int64_t key_block = 128;   // keys that are converted and multiplied together

template <class Real>
struct Attended {
  Matrix<Real> out;       // one row a query
  std::vector<Real> lse;  // -inf: the row is empty
};

template <class Real>
void attend(Attended<Real>& to, const Head& head, Span queries);

}  // namespace fw::reference
