// One call: the tensors and scalars of a Problem. A view that is not given means the feature is absent.
// D is dim_qk, Dv is dim_v; (B,Sq,...) tensors are (Tq,...) when cu_seqlens_q is given, (B,Sk,...) likewise.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "base/view.hpp"
#include "problem/problem.hpp"

namespace fw {

struct Allocator {  // both null = the backend's own
  void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment) = nullptr;
  void (*release)(void* context, void* block) = nullptr;
  void* context = nullptr;
};

struct Call {
  Pass pass = Pass::forward;  // forward or backward
  bool host_memory = true;    // false: nothing that a tensor holds can be read here

  View q;    // (B,Sq,Hq,D)
  View k;    // (B,Sk,Hk,D), or a paged pool (pages,page_size,Hk,D)
  View v;    // (B,Sk,Hk,Dv), or (pages,page_size,Hk,Dv)
  View out;  // (B,Sq,Hq,Dv): written by forward, read by backward
  View lse;  // (B,Hq,Sq) or (Hq,Tq) fp32, natural log: written by forward when given, read by backward

  View dout;  // (B,Sq,Hq,Dv)
  View dlse;  // like lse, optional
  View dq, dk, dv;
  View dbias;  // like bias, optional
  View dsink;  // like sink, optional

  View alibi;         // (Hq) or (B,Hq) fp32 slopes
  View bias;          // (1|B,1|Hq,1|Sq,Sk)
  View sink;          // (Hq)
  View dropout_mask;  // out, (B,Hq,max Sq,max Sk) uint8, 1 = kept; optional

  View cu_seqlens_q, cu_seqlens_k;            // (B+1) int32
  View seqused_q, seqused_k;                  // (B) int32
  std::int64_t max_seq_q = 0, max_seq_k = 0;  // varlen: 0 = taken from cu_seqlens (CPU) or refused
  View diagonals;                             // (B) int32, replaces the scalar

  View cache_seqlens;           // (B) int32: filled slots before the append, padding included
  View block_table;             // (B, columns) int32
  View cache_batch_idx;         // (B) int32
  View leftpad;                 // (B) int32
  View k_new, v_new;            // (B,New,Hk,D), (B,New,Hk,Dv)
  View rotary_cos, rotary_sin;  // (rows, R/2)
  View rotary_seqlens;          // (B) int32, replaces cache_seqlens as the first position
  bool rotary_interleaved = false;

  bool scale_given = false;
  float scale = 0;
  float softcap = 0;
  int left = open_side, right = open_side;
  bool diagonal_given = false;
  int diagonal = 0;

  float dropout = 0;
  std::uint64_t seed = 0, offset = 0;
  // Where this call's tensors stand in a larger attention whose dropout mask it shares.
  std::int64_t origin_batch = 0, origin_head = 0, origin_q = 0, origin_k = 0;
  std::int64_t global_heads = 0, global_seq_q = 0, global_seq_k = 0;  // 0 = this call's own

  int splits = 0;
  bool deterministic = false;

  void* workspace = nullptr;  // 256-byte aligned; null = the backend allocates
  std::size_t workspace_bytes = 0;
  void* stream = nullptr;
  Allocator allocator;
};

// Merges partial results over the same queries and disjoint keys (splits, rings): docs/semantics.md.
struct CombineCall {
  View outs;  // (N,B,Sq,Hq,Dv) or (N,Tq,Hq,Dv)
  View lses;  // (N,B,Hq,Sq) or (N,Hq,Tq) fp32, without sink
  View sink;  // (Hq), optional: joins once, here
  View out;   // (B,Sq,Hq,Dv) or (Tq,Hq,Dv)
  View lse;   // optional
  void* stream = nullptr;
};
Status check_combine(const CombineCall& call);

// Derives the Problem from the tensors, checking every rank, shape, dtype and stride on the way.
Status describe(const Call& call, Problem& problem);

// Reads the values of lengths, tables and indices and checks them: for host memory only.
// Nothing has been written when it refuses.
Status check_values(const Call& call, const Problem& problem);

}  // namespace fw
