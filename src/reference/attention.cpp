#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>

namespace fw::reference {
namespace {

int64_t difference(const View& cu_seqlens, int64_t b) {
  return integer(cu_seqlens, b + 1) - integer(cu_seqlens, b);
}

int64_t query_count(const Problem& problem, const Call& call, int64_t b) {
  if (call.seqused_q.given()) return integer(call.seqused_q, b);
  if (call.cu_seqlens_q.given()) return difference(call.cu_seqlens_q, b);
  return problem.seq_q;
}

int64_t slot_count(const Problem& problem, const Call& call, int64_t b) {
  if (call.seqused_k.given()) return integer(call.seqused_k, b);
  if (call.cache_seqlens.given()) return integer(call.cache_seqlens, b);
  if (call.cu_seqlens_k.given()) return difference(call.cu_seqlens_k, b);
  return problem.seq_k;
}

Sequence sequence_of(const Problem& problem, const Attention& a, int64_t b) {
  const Call& call = a.call;
  Sequence s{};
  s.batch = b;
  s.queries = query_count(problem, call, b);
  s.first_query = call.cu_seqlens_q.given() ? integer(call.cu_seqlens_q, b) : b * problem.seq_q;
  s.first_state = a.states;
  s.slots = slot_count(problem, call, b) + a.appended();
  s.leftpad = call.leftpad.given() ? integer(call.leftpad, b) : 0;
  if (call.diagonals.given())
    s.diagonal = integer(call.diagonals, b);
  else if (call.diagonal_given)
    s.diagonal = call.diagonal;
  else
    s.diagonal = s.slots - s.leftpad - s.queries;
  return s;
}

}  // namespace

std::vector<Span> blocks(Span span, int64_t size) {
  std::vector<Span> all;
  for (int64_t begin = span.begin; begin < span.end; begin += size)
    all.push_back({begin, std::min(begin + size, span.end)});
  return all;
}

Attention resolve(const Problem& problem, const Call& call) {
  Attention a{.call = call,
              .heads_q = problem.heads_q,
              .heads_k = problem.heads_k,
              .dim_qk = problem.dim_qk,
              .dim_v = problem.dim_v,
              .scale = call.scale_given ? call.scale : 1 / std::sqrt(static_cast<double>(problem.dim_qk)),
              .narrow = call.q.dtype,
              .narrow_score = call.pass == Pass::forward ? call.q.dtype : DType::fp32,
              .dropout = Dropout(problem, call)};
  for (int64_t b = 0; b < problem.batch; ++b) {
    a.sequences.push_back(sequence_of(problem, a, b));
    a.states += a.sequences.back().queries;
  }
  return a;
}

Span seen_by(const Head& head, int64_t query) {
  const Call& call = head.call();
  const Sequence& s = head.sequence;
  const int64_t position = query + s.diagonal, keys = std::max<int64_t>(s.slots - s.leftpad, 0);
  int64_t begin = 0, end = keys;
  if (call.left >= 0) begin = std::clamp<int64_t>(position - call.left, 0, keys);
  if (call.right >= 0) end = std::clamp<int64_t>(position + call.right + 1, 0, keys);
  return {s.leftpad + begin, s.leftpad + end};
}

Span seen_by(const Head& head, Span queries) {
  if (queries.size() == 0) return {0, 0};
  return {seen_by(head, queries.begin).begin, seen_by(head, queries.end - 1).end};
}

Span queries_seeing(const Head& head, Span slots) {
  Span queries = head.all_queries();
  while (queries.size() > 0 && seen_by(head, queries.begin).end <= slots.begin) ++queries.begin;
  while (queries.size() > 0 && seen_by(head, queries.end - 1).begin >= slots.end) --queries.end;
  return queries;
}

int64_t key_row(const Call& call, const Sequence& sequence, int64_t slot) {
  if (call.block_table.given()) {
    const View& table = call.block_table;
    const int64_t page_size = call.k.shape[1];
    const int64_t column = sequence.batch * table.stride[0] + slot / page_size * table.stride[1];
    return static_cast<const std::int32_t*>(table.data)[column] * page_size + slot % page_size;
  }
  if (call.cu_seqlens_k.given()) return integer(call.cu_seqlens_k, sequence.batch) + slot;
  const int64_t row =
      call.cache_batch_idx.given() ? integer(call.cache_batch_idx, sequence.batch) : sequence.batch;
  return row * call.k.shape[1] + slot;
}

int64_t row_index(const View& view, int64_t row, int64_t head) {
  if (view.rank == 3) return row * view.stride[0] + head * view.stride[1];
  return row / view.shape[1] * view.stride[0] + row % view.shape[1] * view.stride[1] + head * view.stride[2];
}

int64_t lse_index(const View& view, int64_t row, int64_t head) {
  if (view.rank == 2) return head * view.stride[0] + row * view.stride[1];
  return row / view.shape[2] * view.stride[0] + head * view.stride[1] + row % view.shape[2] * view.stride[2];
}

}  // namespace fw::reference
