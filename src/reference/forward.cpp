#include <limits>

#include "reference/attend.hpp"
#include "reference/passes.hpp"
#include "reference/rotary.hpp"

namespace fw::reference {
namespace {

// A number is drawn for every pair, whether the query sees the key or not.
void write_dropout_mask(const Attention& a, int64_t b, int64_t head) {
  const View& mask = a.call.dropout_mask;
  for (int64_t i = 0; i < mask.shape[2]; ++i) {
    const auto kept = a.dropout.kept(b, head, i, 0, mask.shape[3]);
    const int64_t row = b * mask.stride[0] + head * mask.stride[1] + i * mask.stride[2];
    for (int64_t j = 0; j < mask.shape[3]; ++j) store(mask, row + j, kept[j]);
  }
}

template <class Real>
void forward_block(const QueryTask& task) {
  const Head& head = task.head;
  const Call& call = head.call();
  Attended<Real> result;
  attend(result, head, task.queries);
  for (int64_t i = 0; i < task.queries.size(); ++i) {
    const int64_t row = head.sequence.first_query + task.queries.begin + i;
    const int64_t out = row_index(call.out, row, head.q);
    for (int64_t d = 0; d < result.out.cols; ++d) store(call.out, out + d, result.out.row(i)[d]);
    if (call.lse.given()) store(call.lse, lse_index(call.lse, row, head.q), result.lse[i]);
  }
}

}  // namespace

template <class Real>
Status forward(const Attention& a, const Parallel& parallel) {
  const Call& call = a.call;
  fill(call.out, 0);
  fill(call.lse, -std::numeric_limits<double>::infinity());
  if (call.k_new.given())
    FW_TRY(run_tasks(parallel, a.sequences.size(), [&](std::size_t t) { append(a, a.sequences[t]); }));
  if (call.dropout_mask.given())
    FW_TRY(run_tasks(parallel, a.sequences.size() * a.heads_q,
                     [&](std::size_t t) { write_dropout_mask(a, t / a.heads_q, t % a.heads_q); }));
  const std::vector<QueryTask> tasks = query_tasks(a);
  return run_tasks(parallel, tasks.size(), [&](std::size_t t) { forward_block<Real>(tasks[t]); });
}

template Status forward<float>(const Attention&, const Parallel&);
template Status forward<double>(const Attention&, const Parallel&);

}  // namespace fw::reference
