// Where the queries and keys of a sequence are: dense, varlen or paged, padded or not.
#pragma once

#include "meaning/args.hpp"
#include "meaning/mask.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Sequence {
  int batch;
  int queries, keys;     // keys counts from the first visible slot on
  int first_slot;        // leftpad
  i64 q_row, k_row;      // first row in a varlen tensor, else 0
  int q_batch, k_batch;  // index for the batch stride
  Mask mask;
};

FLASHWAVE_RULE Sequence sequence_of(const Args& a, int b) {
  Sequence s{};
  s.batch = b;
  s.q_row = a.cu_seqlens_q ? a.cu_seqlens_q[b] : 0;
  s.k_row = a.cu_seqlens_k ? a.cu_seqlens_k[b] : 0;
  s.q_batch = a.cu_seqlens_q ? 0 : b;
  s.k_batch = a.cu_seqlens_k ? 0 : a.cache_batch_idx ? a.cache_batch_idx[b] : b;
  s.queries = a.seqused_q      ? a.seqused_q[b]
              : a.cu_seqlens_q ? a.cu_seqlens_q[b + 1] - a.cu_seqlens_q[b]
                               : a.seq_q;
  const int filled = a.seqused_k      ? a.seqused_k[b]
                     : a.cu_seqlens_k ? a.cu_seqlens_k[b + 1] - a.cu_seqlens_k[b]
                                      : a.seq_k;
  s.first_slot = a.leftpad ? a.leftpad[b] : 0;
  s.keys = most(0, filled + a.append - s.first_slot);
  const int diagonal = a.diagonals ? a.diagonals[b] : a.has_diagonal ? a.diagonal : s.keys - s.queries;
  s.mask = {a.left, a.right, diagonal};
  return s;
}

// Offset of a query's row of q, out or their gradients, and of a value of lse.
FLASHWAVE_RULE i64 query_offset(const Tensor& t, const Sequence& s, int query, int head) {
  return s.q_batch * t.batch + (s.q_row + query) * t.row + head * t.head;
}

// Calls visit(first, count, offset) for each run of keys from `range` that lie one row stride apart:
// all of them at once, or a page at a time, so that a page's entry is read once.
template <class Visit>
FLASHWAVE_RULE void each_run(const Args& a, const Tensor& t, const Sequence& s, int kv_head, Range range,
                             Visit visit) {
  const i64 head = kv_head * t.head;
  if (a.page_size == 0) {
    visit(range.begin, range.count(),
          s.k_batch * t.batch + (s.k_row + s.first_slot + range.begin) * t.row + head);
    return;
  }
  for (int key = range.begin; key < range.end;) {
    const int slot = s.first_slot + key;
    const int within = slot % a.page_size;
    const int count = least(a.page_size - within, range.end - key);
    i64 page = a.block_table[s.batch * a.block_table_stride + slot / a.page_size];
    if (a.pages) page = most<i64>(0, least(page, a.pages - 1));
    visit(key, count, page * t.batch + within * t.row + head);
    key += count;
  }
}

}  // namespace fw::FLASHWAVE_TARGET
