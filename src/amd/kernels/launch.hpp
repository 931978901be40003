// What the host hands a kernel: the call's Args, and what a launch adds. Plain data, passed by value.
//
// Every grid is one-dimensional. A workgroup does the piece of work `first_work + its number`, so that a grid
// too large for one launch comes as several.
#pragma once

#include "meaning/args.hpp"

namespace fw::amd {

// How far indices that are read on the device may reach. A call with wrong lengths or tables then reads wrong
// rows, but never memory that is not its own.
struct Bounds {
  i64 rows_q, rows_k;  // of tensors with cu_seqlens
  int cache_rows;      // rows of a dense cache that cache_batch_idx may name
  int columns;         // of the block table
  int positions;       // rows of the rotary tables
};

// Rows that may be moved 16 bytes at a time: address, strides and length are multiples of that. The kernels
// choose by it at run time; other rows are moved an element at a time.
enum Aligned : u32 { aligned_q = 1, aligned_k = 2, aligned_v = 4, aligned_out = 8 };

// What kernels of kind fast demand beside kind plain: rows as wide as their buckets, all of them aligned, and
// a tile of keys one small stride apart.
inline bool suits_fast(const Args& a, u32 aligned, int dim_qk, int dim_v) {
  constexpr i64 widest_row = 1 << 22;
  const auto straight = [](const Tensor& t) { return t.row >= 0 && t.row <= widest_row; };
  return aligned == (aligned_q | aligned_k | aligned_v | aligned_out) && a.dim_qk == dim_qk &&
         a.dim_v == dim_v && a.page_size == 0 && straight(a.k) && straight(a.v);
}

// Kinds plain, scored, decode and fast. Piece of work: (batch, kv head, split, tile of packed rows), in an
// order that the kernel chooses (attention.hpp); there are batch * heads_k * splits * row_tiles.
struct AttentionLaunch {
  Args args;
  Bounds bounds;
  int row_tiles;       // of the longest sequence: packed rows over the rows of a workgroup, rounded up
  int splits;          // most ranges that a sequence's keys are cut into (meaning/cut.hpp); 1 = none
  i64 split_keys;      // keys of a range where that is fixed, else 0
  float* partial_out;  // with splits > 1: (splits, B, Hq, Sq, Dv), each normalised, without the sink
  float* partial_lse;  // (splits, B, Hq, Sq): -inf where a range has nothing, and then its out is not written
  i64 first_work, work;  // work = pieces in all, less than 2^31
  int dies;     // parts of the device with a cache of their own, to which workgroups go in turn: 8 or 1
  u32 aligned;  // of enum Aligned
};

// Kind combine: merges partials over the same queries. Piece of work: `rows` rows of out (kernels.tsv).
struct CombineLaunch {
  Args args;  // where out, lse and sink are; batch, heads_q, seq_q, dim_v; lengths of queries
  Bounds bounds;
  Tensor outs;  // strides of one partial
  Tensor lses;
  i64 outs_partial, lses_partial;  // from one partial to the next
  Element outs_element;
  int partials;
  i64 first_work, work;  // work = batch * seq_q * heads_q rows, over `rows`, rounded up
};

struct RotaryTables {
  const void *cos, *sin;
  i64 cos_row, sin_row;
  Element element;
  int dim, interleaved;
  const int* start;  // (B) position of a sequence's first new token; null = no rotary
};

// Kind append. Piece of work: one new token (b, t), all its heads; there are batch * tokens.
struct AppendLaunch {
  Args args;  // where the cache is
  Bounds bounds;
  Tensor k_new, v_new;
  int tokens;
  const int* filled;  // (B) cache_seqlens: the slot of a sequence's first new token
  RotaryTables rotary;
  i64 first_work, work;
};

// Kind rotate: q turned into `to`. Piece of work: one query (b, i), all its heads; there are batch * seq_q.
struct RotateLaunch {
  Args args;  // args.q is turned
  Bounds bounds;
  Tensor to;
  RotaryTables rotary;
  int masked;  // each query has a position of its own
  i64 first_work, work;
};

// Kind fill: +0 and -inf for rows of out and lse that no query of a sequence owns. Piece of work: one row of
// q, all its heads: b * seq_q + i, or a row of a ragged tensor.
struct FillLaunch {
  Args args;
  Bounds bounds;
  i64 first_work, work;
};

// Kind mask: the dropout mask. Piece of work: one row (b, h, i); there are batch * heads_q * seq_q.
struct MaskLaunch {
  Args args;
  i64 first_work, work;
};

}  // namespace fw::amd
