// The pointers, strides and scalars of one call, as every kernel receives them: plain data.
// Shapes stand after the pointers, strides count elements, the last dimension is contiguous, null = absent.
#pragma once

#include "meaning/target.hpp"

namespace fw {

// Values are those of base/dtype.hpp.
enum class Element : int { none = 0, fp32 = 1, fp16 = 2, bf16 = 3, uint8 = 9 };

inline constexpr int widest_qk = 576, widest_v = 512;  // problem/rules.cpp refuses more

struct Tensor {
  void* data;
  i64 batch, row, head;  // strides; batch is 0 where cu_seqlens or a block table finds the rows
};

struct Args {
  Element element;  // of q, k, v, out and their gradients
  int batch, heads_q, heads_k;
  int seq_q, seq_k;  // longest sequence, or the cache's capacity
  int dim_qk, dim_v;

  Tensor q, k, v, out;  // (B,Sq,Hq,D) (B,Sk,Hk,D) (B,Sk,Hk,Dv) (B,Sq,Hq,Dv)
  Tensor dout, dq, dk, dv;
  Tensor lse, dlse;  // fp32 (B,Hq,Sq): `row` is the stride of a query, `head` of a head

  const int* cu_seqlens_q;  // (B+1)
  const int* cu_seqlens_k;  // (B+1)
  const int* seqused_q;     // (B)
  const int* seqused_k;     // (B); cache_seqlens arrives here when seqused_k is absent
  int append;               // keys already appended in this call: each length grows by it
  const int* block_table;   // (B, ...)
  i64 block_table_stride;
  int page_size;               // 0 = not paged; then k.batch, v.batch are the strides of a page
  i64 pages;                   // of the pool, where nobody has checked the table; else 0
  const int* cache_batch_idx;  // (B)
  const int* leftpad;          // (B)

  int left, right;       // open when negative
  const int* diagonals;  // (B)
  int has_diagonal, diagonal;

  float scale;
  float softcap;       // 0 = off
  const float* alibi;  // slopes
  i64 alibi_batch;     // 0 for (Hq)
  const void* bias;    // (1|B,1|Hq,1|Sq,Sk): a broadcast dimension has stride 0
  Element bias_element;
  i64 bias_batch, bias_head, bias_row;
  void* dbias;  // fp32 or bias's element, same shape, strides of its own
  i64 dbias_batch, dbias_head, dbias_row;
  const void* sink;  // (Hq)
  Element sink_element;
  void* dsink;

  u32 drop_below;    // dropout: a 16-bit number under this drops; 0 = no dropout
  float keep_scale;  // 1 / (1 - drop_below / 65536)
  u64 seed, offset;
  i64 origin_batch, origin_head, origin_q, origin_k;
  i64 global_heads, global_seq_q, global_seq_k;
  unsigned char* dropout_mask;  // (B,Hq,Sq,Sk), 1 = kept
  i64 mask_batch, mask_head, mask_row;
};

}  // namespace fw
