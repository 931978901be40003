// What is asked, without a pointer: everything that planning, capability and the validity rules need.
// Tensor names, alignment and units are those of docs/semantics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/dtype.hpp"

namespace fw {

// The enum values below are part of the C ABI: only append.
enum class Pass : int { forward = 0, backward = 1, both = 2 };
enum class Alibi : int { none = 0, per_head = 1, per_batch_head = 2 };

// How sequences are laid out.
//   dense   q (B,Sq,Hq,D), k (B,Sk,Hk,D); with seqused each sequence may use fewer keys (or queries)
//   varlen  q (Tq,Hq,D) with cu_seqlens_q; k (Tk,Hk,D) with cu_seqlens_k, or pages
//   cache   q dense; k, v are a cache whose filled length is cache_seqlens
enum class Lengths : int { dense = 0, varlen = 1, cache = 2 };

inline constexpr int open_side = -1;  // a window side without a bound

struct BiasShape {
  DType dtype = DType::none;  // none = no bias; q's dtype, fp32, or uint8 (bool: 1 = visible)
  // false: the dimension is 1 and broadcasts. The key dimension is always Sk.
  bool batch = false, head = false, query = false;
  bool given() const { return dtype != DType::none; }
  bool operator==(const BiasShape&) const = default;
};

struct Rotary {
  int dim = 0;  // rotated elements of each row; 0 = no rotary
  bool interleaved = false;
  DType dtype = DType::none;  // of cos and sin: fp32 or q's
  bool operator==(const Rotary&) const = default;
};

struct Problem {
  Pass pass = Pass::forward;
  DType dtype = DType::fp32;  // of q, k, v and out

  std::int64_t batch = 1;
  std::int64_t heads_q = 1, heads_k = 1;
  std::int64_t seq_q = 0, seq_k = 0;  // longest sequence; for caches seq_k is the capacity
  std::int64_t dim_qk = 0, dim_v = 0;

  // Row i stands at p = i + diagonal and sees keys p-left .. p+right. Causal is right = 0.
  int left = open_side, right = open_side;
  // Row 0 stands at `diagonal`, or where a tensor (B) says, or (neither is set) so that rows and keys end
  // together.
  bool diagonal_given = false;
  bool diagonal_per_batch = false;
  int diagonal = 0;

  std::optional<float> scale;  // default dim_qk^-0.5
  float softcap = 0;           // 0 = off
  Alibi alibi = Alibi::none;
  BiasShape bias;
  DType sink = DType::none;  // none = no sink; fp32 or q's dtype
  float dropout = 0;         // probability of dropping, 0 <= p < 1

  Lengths lengths = Lengths::dense;
  bool seqused_q = false, seqused_k = false;
  std::int64_t page_size = 0;  // 0 = not paged
  std::int64_t pages = 0;      // pages in the pool; 0 = unknown (a problem line)
  std::int64_t append = 0;     // new keys a sequence, written to the cache before attention
  Rotary rotary;
  bool batch_index = false;  // cache_batch_idx
  bool leftpad = false;
  int splits = 0;  // 0 = the plan chooses

  bool want_lse = false;
  bool want_mask = false;  // the dropout mask
  bool want_dlse = false;  // backward: a gradient of lse comes in
  bool want_dbias = false;
  bool want_dsink = false;
  bool deterministic = false;

  bool operator==(const Problem&) const = default;

  float scale_or_default() const;  // the scale that is meant
  bool forward() const { return pass != Pass::backward; }
  bool backward() const { return pass != Pass::forward; }
  bool cached() const { return lengths == Lengths::cache || page_size > 0; }
  std::int64_t group() const { return heads_k > 0 ? heads_q / heads_k : 0; }  // q heads a kv head
};

struct ProblemHash {
  std::size_t operator()(const Problem& problem) const;
};

inline constexpr std::int64_t max_dim_qk = 576;
inline constexpr std::int64_t max_dim_v = 512;

}  // namespace fw
