// One call, resolved: how long each sequence is, who sees whom, and where the rows lie.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "problem/call.hpp"
#include "reference/dropout.hpp"
#include "reference/elements.hpp"

namespace fw::reference {

struct Span {
  int64_t begin, end;
  int64_t size() const { return end > begin ? end - begin : 0; }
};
std::vector<Span> blocks(Span span, int64_t size);

// Rows of q, out and their gradients are numbered through the batch, so are rows of the key storage.
// Keys are named by their slot; the key index that mask and ALiBi count is slot - leftpad.
struct Sequence {
  int64_t batch;
  int64_t queries;      // that are computed
  int64_t first_query;  // row of q
  int64_t first_state;  // computed queries of all sequences before
  int64_t slots;        // that hold keys, left padding and appended ones included
  int64_t leftpad;
  int64_t diagonal;  // query i stands at position i + diagonal
};

struct Attention {
  const Call& call;
  int64_t heads_q, heads_k, dim_qk, dim_v;
  double scale;
  DType narrow;        // eager rounds weights and results to it
  DType narrow_score;  // and each step of a score to this
  Dropout dropout;
  std::vector<Sequence> sequences = {};
  int64_t states = 0;  // computed queries

  int64_t group() const { return heads_q / heads_k; }
  int64_t appended() const { return call.k_new.given() ? call.k_new.shape[1] : 0; }
};
Attention resolve(const Problem& problem, const Call& call);

// One head of one sequence.
struct Head {
  const Attention& attention;
  const Sequence& sequence;
  int64_t q;  // head of q; its keys are those of head q / group
  const Call& call() const { return attention.call; }
  int64_t k() const { return q / attention.group(); }
  Span all_queries() const { return {0, sequence.queries}; }
};

// Slots that query i sees; neither end ever decreases with i.
Span seen_by(const Head& head, int64_t query);
Span seen_by(const Head& head, Span queries);       // by any of them
Span queries_seeing(const Head& head, Span slots);  // any of them

int64_t key_row(const Call& call, const Sequence& sequence, int64_t slot);
// Index of the first element of a row (numbered through the batch) in (B,S,H,D), (pages,page_size,H,D) or
// (T,H,D).
int64_t row_index(const View& view, int64_t row, int64_t head);
// Of a query's element in lse or dlse: (B,H,S) or (H,T).
int64_t lse_index(const View& view, int64_t row, int64_t head);

}  // namespace fw::reference
