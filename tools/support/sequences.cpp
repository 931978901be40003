#include "support/sequences.hpp"

#include <algorithm>

#include "support/tensor.hpp"

namespace tools {

namespace {

std::int64_t value_at(const std::vector<std::int32_t>& values, std::size_t b, std::int64_t otherwise) {
  return values.empty() ? otherwise : values[b];
}

std::size_t batch_of(const flashwave_attention& call) {
  if (given(call.cu_seqlens_q)) return static_cast<std::size_t>(call.cu_seqlens_q.shape[0] - 1);
  return static_cast<std::size_t>(call.q.shape[0]);
}

}  // namespace

Sequences::Sequences(const flashwave_attention& call) : call_(call), all_(batch_of(call)) {
  const auto cu_q = read_ints(call.cu_seqlens_q), cu_k = read_ints(call.cu_seqlens_k);
  const auto used_q = read_ints(call.seqused_q), used_k = read_ints(call.seqused_k);
  const auto cache = read_ints(call.cache_seqlens), leftpad = read_ints(call.leftpad);
  const auto index = read_ints(call.cache_batch_idx), diagonals = read_ints(call.diagonals);
  const bool paged = given(call.block_table);
  for (std::size_t b = 0; b < all_.size(); ++b) {
    Sequence& s = all_[b];
    s.first_row = value_at(cu_q, b, 0);
    s.rows = cu_q.empty() ? call.q.shape[1] : cu_q[b + 1] - cu_q[b];
    s.queries = value_at(used_q, b, s.rows);
    s.first_slot = cu_k.empty() || paged ? 0 : cu_k[b];
    if (paged) {
      s.slots = call.block_table.shape[1] * call.k.shape[1];
      if (call.max_seq_k > 0) s.slots = std::min(s.slots, call.max_seq_k);
    } else {
      s.slots = cu_k.empty() ? call.k.shape[1] : cu_k[b + 1] - cu_k[b];
    }
    const std::int64_t listed = cu_k.empty() ? s.slots : cu_k[b + 1] - cu_k[b];
    s.keys = value_at(used_k, b, value_at(cache, b, listed)) + (given(call.k_new) ? call.k_new.shape[1] : 0);
    s.leftpad = value_at(leftpad, b, 0);
    s.cache_row = value_at(index, b, static_cast<std::int64_t>(b));
    s.diagonal = call.has_diagonal ? call.diagonal : value_at(diagonals, b, s.keys - s.leftpad - s.queries);
  }
}

Range Sequences::visible(std::size_t b, std::int64_t i) const {
  const Sequence& s = all_[b];
  const std::int64_t position = i + s.diagonal;
  std::int64_t first = 0, last = s.keys - s.leftpad - 1;
  if (call_.has_window && call_.window_left >= 0) first = std::max(first, position - call_.window_left);
  if (call_.has_window && call_.window_right >= 0) last = std::min(last, position + call_.window_right);
  if (first > last) return {};
  return {s.leftpad + first, s.leftpad + last + 1};
}

Range Sequences::visible(std::size_t b) const {
  Range seen;
  for (std::int64_t i = 0; i < all_[b].queries; ++i) {
    const Range row = visible(b, i);
    if (row.empty()) continue;
    seen = seen.empty() ? row : Range{std::min(seen.begin, row.begin), std::max(seen.end, row.end)};
  }
  return seen;
}

std::int64_t Sequences::query_offset(const flashwave_tensor& t, std::size_t b, std::int64_t i,
                                     std::int64_t head) const {
  if (t.rank == 3) return (all_[b].first_row + i) * t.stride[0] + head * t.stride[1];
  return static_cast<std::int64_t>(b) * t.stride[0] + i * t.stride[1] + head * t.stride[2];
}

std::int64_t Sequences::page_of(std::size_t b, std::int64_t slot) const {
  const flashwave_tensor& table = call_.block_table;
  const std::int64_t column = slot / call_.k.shape[1];
  return static_cast<const std::int32_t*>(
      table.data)[static_cast<std::int64_t>(b) * table.stride[0] + column * table.stride[1]];
}

bool Sequences::backed(std::size_t b, std::int64_t slot) const {
  return !given(call_.block_table) || page_of(b, slot) >= 0;
}

std::int64_t Sequences::key_offset(const flashwave_tensor& t, std::size_t b, std::int64_t slot,
                                   std::int64_t head) const {
  if (given(call_.block_table))
    return page_of(b, slot) * t.stride[0] + slot % call_.k.shape[1] * t.stride[1] + head * t.stride[2];
  if (t.rank == 3) return (all_[b].first_slot + slot) * t.stride[0] + head * t.stride[1];
  return all_[b].cache_row * t.stride[0] + slot * t.stride[1] + head * t.stride[2];
}

std::int64_t Sequences::lse_offset(const flashwave_tensor& t, std::size_t b, std::int64_t i,
                                   std::int64_t head) const {
  if (t.rank == 2) return head * t.stride[0] + (all_[b].first_row + i) * t.stride[1];
  return static_cast<std::int64_t>(b) * t.stride[0] + head * t.stride[1] + i * t.stride[2];
}

}  // namespace tools
