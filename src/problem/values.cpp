// What lengths, tables and indices say, checked before anything is written: kernels trust them afterwards.
#include <algorithm>
#include <vector>

#include "problem/call.hpp"
#include "problem/refuse.hpp"
#include "problem/visible.hpp"

namespace fw {
namespace {

// Values of a (n) int32 tensor; describe has made sure of its rank, type, size and stride.
std::int64_t at(const View& view, std::int64_t i) { return static_cast<const std::int32_t*>(view.data)[i]; }
std::int64_t length_in(const View& cu_seqlens, std::int64_t b) {
  return at(cu_seqlens, b + 1) - at(cu_seqlens, b);
}

// `rows` is where the sequences must end, or -1 when cu_seqlens gives no places but only lengths.
Status check_cu_seqlens(std::string_view name, const View& cu, std::int64_t longest, std::int64_t rows,
                        std::string_view tensor) {
  if (!cu.given()) return {};
  const std::int64_t batch = cu.shape[0] - 1;
  if (at(cu, 0) != 0) return refuse("cu-seqlens", name, " starts with ", at(cu, 0), "; it starts with 0");
  for (std::int64_t b = 0; b < batch; ++b)
    if (length_in(cu, b) < 0)
      return refuse("cu-seqlens", name, " falls from ", at(cu, b), " to ", at(cu, b + 1), " at sequence ", b,
                    "; it never decreases");
  if (rows >= 0 && at(cu, batch) > rows)
    return refuse("cu-seqlens-rows", name, " ends at ", at(cu, batch), ", but ", tensor, " has ", rows,
                  " rows");
  for (std::int64_t b = 0; b < batch; ++b)
    if (length_in(cu, b) > longest)
      return refuse("cu-seqlens", name, " gives sequence ", b, " ", length_in(cu, b),
                    " rows; the longest may have ", longest);
  return {};
}

Status check_range(RuleId rule, std::string_view name, const View& view, std::int64_t least,
                   std::int64_t most) {
  if (!view.given()) return {};
  for (std::int64_t b = 0; b < view.shape[0]; ++b)
    if (at(view, b) < least || at(view, b) > most)
      return refuse(rule, name, " of sequence ", b, " is ", at(view, b), "; it is ", least, " to ", most);
  return {};
}

Status check_used(std::string_view name, const View& used, const View& cu, std::int64_t most) {
  if (!used.given()) return {};
  for (std::int64_t b = 0; b < used.shape[0]; ++b) {
    const std::int64_t limit = cu.given() ? length_in(cu, b) : most;
    if (at(used, b) < 0 || at(used, b) > limit)
      return refuse("seqused-range", name, " of sequence ", b, " is ", at(used, b), "; it is 0 to ", limit);
  }
  return {};
}

Status check_filled(const Call& call, const Problem& p) {
  FW_TRY(check_range("cache-seqlens", "cache_seqlens", call.cache_seqlens, 0, p.seq_k));
  if (p.append == 0) return {};
  for (const View* filled : {&call.cache_seqlens, &call.seqused_k})
    for (std::int64_t b = 0; filled->given() && b < p.batch; ++b)
      if (at(*filled, b) + p.append > p.seq_k)
        return refuse("cache-full", "sequence ", b, " has ", at(*filled, b), " filled slots, and ", p.append,
                      " new keys do not fit: the cache holds ", p.seq_k);
  return {};
}

Status check_batch_index(const Call& call, const Problem& p) {
  if (!p.batch_index) return {};
  FW_TRY(check_range("batchidx-range", "cache_batch_idx", call.cache_batch_idx, 0, call.k.shape[0] - 1));
  if (p.append == 0) return {};
  const auto* first = static_cast<const std::int32_t*>(call.cache_batch_idx.data);
  std::vector<std::int32_t> sorted(first, first + p.batch);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return refuse("batchidx-distinct", "cache_batch_idx names row ", *twice,
                  " twice, and both sequences append to it");
  return {};
}

std::int64_t queries_of(const Call& call, const Problem& p, std::int64_t b) {
  if (p.seqused_q) return at(call.seqused_q, b);
  return call.cu_seqlens_q.given() ? length_in(call.cu_seqlens_q, b) : p.seq_q;
}

std::int64_t keys_of(const Call& call, const Problem& p, std::int64_t b) {
  if (p.seqused_k) return at(call.seqused_k, b) + p.append;
  if (call.cache_seqlens.given()) return at(call.cache_seqlens, b) + p.append;
  return call.cu_seqlens_k.given() ? length_in(call.cu_seqlens_k, b) : p.seq_k;
}

Sequence sequence_of(const Call& call, const Problem& p, std::int64_t b) {
  Sequence s{queries_of(call, p, b), keys_of(call, p, b), p.leftpad ? at(call.leftpad, b) : 0, 0};
  s.diagonal = p.diagonal_per_batch ? at(call.diagonals, b)
               : p.diagonal_given   ? p.diagonal
                                    : default_diagonal(s);
  return s;
}

Status check_pages(const Call& call, const Problem& p, std::int64_t b, const Slots& slots) {
  if (slots.first >= slots.last) return {};
  const auto* row = static_cast<const std::int32_t*>(call.block_table.data) + b * call.block_table.stride[0];
  for (std::int64_t column = slots.first / p.page_size; column <= (slots.last - 1) / p.page_size; ++column)
    if (row[column] < 0 || row[column] >= p.pages)
      return refuse("block-table", "block_table names page ", row[column], " in column ", column,
                    " of sequence ", b, ", which is used; there are ", p.pages, " pages");
  return {};
}

// Only columns that hold a visible or a new slot are read, so only they must name a page.
Status check_block_table(const Call& call, const Problem& p) {
  if (p.page_size == 0 || p.heads_k == 0) return {};
  for (std::int64_t b = 0; b < p.batch; ++b) {
    FW_TRY(check_pages(call, p, b, visible_slots(p, sequence_of(call, p, b))));
    if (p.append == 0) continue;
    const std::int64_t filled = at(call.cache_seqlens, b);
    FW_TRY(check_pages(call, p, b, {filled, filled + p.append}));
  }
  return {};
}

// New keys turn by start + t; queries by start + i, or all by start when every row sees every key.
Status check_rotary_rows(const Call& call, const Problem& p) {
  if (p.rotary.dim == 0) return {};
  const bool by_row = p.left >= 0 || p.right >= 0;
  const View& starts = call.rotary_seqlens.given() ? call.rotary_seqlens : call.cache_seqlens;
  const std::int64_t rows = call.rotary_cos.shape[0];
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t queries = queries_of(call, p, b);
    const std::int64_t turned = std::max(p.append, by_row ? queries : std::min<std::int64_t>(queries, 1));
    if (at(starts, b) < 0)
      return refuse("rotary-rows", "rotary_seqlens of sequence ", b, " is ", at(starts, b),
                    "; it is 0 or more");
    if (turned > 0 && at(starts, b) + turned > rows)
      return refuse("rotary-rows", "rotary_cos has ", rows, " rows, but sequence ", b, " turns by position ",
                    at(starts, b) + turned - 1);
  }
  return {};
}

}  // namespace

Status check_values(const Call& call, const Problem& p) {
  const bool paged = p.page_size > 0;
  FW_TRY(check_cu_seqlens("cu_seqlens_q", call.cu_seqlens_q, p.seq_q, call.q.shape[0], "q"));
  FW_TRY(check_cu_seqlens("cu_seqlens_k", call.cu_seqlens_k, p.seq_k, paged ? -1 : call.k.shape[0], "k"));
  FW_TRY(check_used("seqused_q", call.seqused_q, call.cu_seqlens_q, p.seq_q));
  FW_TRY(check_used("seqused_k", call.seqused_k, call.cu_seqlens_k, p.seq_k));
  FW_TRY(check_filled(call, p));
  FW_TRY(check_batch_index(call, p));
  FW_TRY(check_range("leftpad-range", "leftpad", call.leftpad, 0, p.seq_k));
  FW_TRY(check_block_table(call, p));
  return check_rotary_rows(call, p);
}

}  // namespace fw
