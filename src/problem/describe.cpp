// A Call to the Problem that it asks.
#include <algorithm>
#include <limits>

#include "problem/call.hpp"
#include "problem/refuse.hpp"
#include "problem/rules.hpp"
#include "problem/tensors.hpp"

namespace fw {
namespace {

// Tensors that mean nothing without another.
struct Need {
  RuleId rule;
  std::string_view name;
  View Call::* member;
  std::string_view needed_name;
  View Call::* needed;
};
constexpr Need needs[] = {
    {"tensor-missing", "cu_seqlens_k", &Call::cu_seqlens_k, "cu_seqlens_q", &Call::cu_seqlens_q},
    {"tensor-missing", "k_new", &Call::k_new, "v_new", &Call::v_new},
    {"tensor-missing", "v_new", &Call::v_new, "k_new", &Call::k_new},
    {"tensor-missing", "rotary_cos", &Call::rotary_cos, "rotary_sin", &Call::rotary_sin},
    {"tensor-missing", "rotary_sin", &Call::rotary_sin, "rotary_cos", &Call::rotary_cos},
    {"tensor-missing", "rotary_seqlens", &Call::rotary_seqlens, "rotary_cos", &Call::rotary_cos},
    {"append-cache", "k_new", &Call::k_new, "cache_seqlens", &Call::cache_seqlens},
    {"rotary-cache", "rotary_cos", &Call::rotary_cos, "cache_seqlens", &Call::cache_seqlens},
    {"batchidx-cache", "cache_batch_idx", &Call::cache_batch_idx, "cache_seqlens", &Call::cache_seqlens},
};

Status check_needs(const Call& call) {
  for (const Need& need : needs)
    if ((call.*need.member).given() && !(call.*need.needed).given())
      return refuse(need.rule, need.name, " is given without ", need.needed_name);
  if (call.cu_seqlens_q.given() && !call.block_table.given()) {
    if (!call.cu_seqlens_k.given())
      return refuse("tensor-missing", "cu_seqlens_q is given without cu_seqlens_k or a block_table");
    if (call.cache_seqlens.given())
      return refuse("varlen-cache",
                    "cu_seqlens_q with cache_seqlens: ragged queries read a cache only by a block_table");
  }
  return {};
}

Status check_scalars(const Call& call) {
  if (call.pass != Pass::forward && call.pass != Pass::backward)
    return refuse("call-pass", "pass is ", static_cast<int>(call.pass),
                  "; a call is 0 forward or 1 backward");
  if ((call.allocator.allocate == nullptr) != (call.allocator.release == nullptr))
    return refuse("allocator-pair", "allocate and release come together or not at all");
  constexpr std::uintptr_t alignment = 256;
  if (reinterpret_cast<std::uintptr_t>(call.workspace) % alignment != 0)
    return refuse("workspace-aligned", "workspace does not lie at a multiple of ", alignment, " bytes");
  if (call.max_seq_q < 0 || call.max_seq_k < 0)
    return refuse("max-seq", "max_seq is ", std::min(call.max_seq_q, call.max_seq_k),
                  "; it is a length, or 0");
  return {};
}

// Lengths in a device's memory cannot be looked at, so the caller says how long the longest sequence is,
// unless there is none.
Status check_longest_given(const Call& call, std::string_view name, std::int64_t given,
                           const View& cu_seqlens, std::int64_t rows) {
  if (call.host_memory || given > 0 || !cu_seqlens.given() || rows == 0) return {};
  return refuse("max-seq", name,
                " is 0 beside cu_seqlens in the device's memory; it is the longest sequence");
}

// The longest sequence by cu_seqlens, whose values check_values judges later: no more than the tensor's rows.
std::int64_t longest(const View& cu_seqlens, std::int64_t rows) {
  if (rows == 0) return 0;
  const auto* ends = static_cast<const std::int32_t*>(cu_seqlens.data);
  std::int64_t out = 0;
  for (std::int64_t b = 0; b + 1 < cu_seqlens.shape[0]; ++b)
    out = std::max(out, std::int64_t{ends[b + 1]} - ends[b]);
  return std::min(out, rows);
}

Status take_longest_q(Sizes& sizes, const Call& call) {
  if (call.cu_seqlens_q.given()) {
    const bool given = call.max_seq_q > 0;
    FW_TRY(check_longest_given(call, "max_seq_q", call.max_seq_q, call.cu_seqlens_q, sizes.of(Dim::rows_q)));
    sizes.set(Dim::seq_q, given ? call.max_seq_q : longest(call.cu_seqlens_q, sizes.of(Dim::rows_q)),
              given ? "max_seq_q" : "cu_seqlens_q");
  } else if (call.max_seq_q > 0 && call.max_seq_q != sizes.of(Dim::seq_q)) {
    return refuse("max-seq", "max_seq_q is ", call.max_seq_q, ", but q has ", sizes.of(Dim::seq_q),
                  " rows a sequence");
  }
  return {};
}

Status take_longest_k(Sizes& sizes, const Call& call) {
  const bool given = call.max_seq_k > 0;
  if (call.block_table.given()) {
    std::int64_t slots = 0;
    if (__builtin_mul_overflow(sizes.of(Dim::columns), sizes.of(Dim::page_size), &slots))
      slots = std::numeric_limits<std::int64_t>::max();
    if (call.max_seq_k > slots)
      return refuse("max-seq", "max_seq_k is ", call.max_seq_k, ", but the block_table's columns hold ",
                    slots, " slots");
    sizes.set(Dim::seq_k, given ? call.max_seq_k : slots, given ? "max_seq_k" : "block_table");
  } else if (call.cu_seqlens_k.given()) {
    FW_TRY(check_longest_given(call, "max_seq_k", call.max_seq_k, call.cu_seqlens_k, sizes.of(Dim::rows_k)));
    sizes.set(Dim::seq_k, given ? call.max_seq_k : longest(call.cu_seqlens_k, sizes.of(Dim::rows_k)),
              given ? "max_seq_k" : "cu_seqlens_k");
  } else if (given && call.max_seq_k != sizes.of(Dim::seq_k)) {
    return refuse("max-seq", "max_seq_k is ", call.max_seq_k, ", but k has ", sizes.of(Dim::seq_k),
                  " rows a sequence");
  }
  return {};
}

Status take_sizes(Sizes& sizes, const Call& call) {
  for (const TensorRow& row : tensor_rows()) {
    const View& view = call.*row.member;
    if (view.given()) FW_TRY(sizes.take(row.name, view, dims_in(row, call)));
    if (row.member != &Call::v) continue;  // q, k and v say all that the lengths follow from
    FW_TRY(take_longest_q(sizes, call));
    FW_TRY(take_longest_k(sizes, call));
  }
  if (call.block_table.given() && sizes.of(Dim::page_size) == 0)
    return refuse("page-size", "k has pages of 0 slots; a page holds 1 slot or more");
  return {};
}

// A shard says where it stands in the whole, so that it draws the whole's dropout mask.
Status check_origin(const Call& call, const Problem& p) {
  if (p.dropout == 0) return {};
  struct Side {
    std::string_view name;
    std::int64_t origin, own, global;
  };
  const Side sides[] = {{"head", call.origin_head, p.heads_q, call.global_heads},
                        {"q", call.origin_q, p.seq_q, call.global_seq_q},
                        {"k", call.origin_k, p.seq_k, call.global_seq_k}};
  if (call.origin_batch < 0)
    return refuse("dropout-origin", "origin_batch is ", call.origin_batch, "; it is 0 or more");
  for (const Side& side : sides) {
    const std::int64_t whole = side.global == 0 ? side.own : side.global;
    if (side.origin < 0 || side.global < 0 || side.origin > whole - side.own)
      return refuse("dropout-origin", "origin_", side.name, " is ", side.origin, ", and ", side.own,
                    " from there on are not within the whole, which has ", whole);
  }
  if (call.origin_k % 8 != 0)
    return refuse("dropout-origin", "origin_k is ", call.origin_k,
                  "; it is a multiple of 8, as many keys share a draw");
  return {};
}

BiasShape bias_shape(const View& bias, const Sizes& sizes) {
  if (!bias.given()) return {};
  return {bias.dtype, bias.shape[0] == sizes.of(Dim::batch), bias.shape[1] == sizes.of(Dim::heads_q),
          bias.shape[2] == sizes.of(Dim::seq_q)};
}

Rotary rotary_of(const Call& call) {
  if (!call.rotary_cos.given()) return {};
  return {static_cast<int>(2 * call.rotary_cos.shape[1]), call.rotary_interleaved, call.rotary_cos.dtype};
}

Status check_rotary_width(const Call& call) {
  if (!call.rotary_cos.given()) return {};
  const std::int64_t half = call.rotary_cos.shape[1];
  if (half < 1 || half > max_dim_qk)
    return refuse("rotary-dim", "rotary_cos has ", half,
                  " columns, half of the elements that turn; it is 1 to d/2");
  return {};
}

void fill_sizes(Problem& p, const Call& call, const Sizes& sizes) {
  p.batch = sizes.of(Dim::batch);
  p.heads_q = sizes.of(Dim::heads_q);
  p.heads_k = sizes.of(Dim::heads_k);
  p.seq_q = sizes.of(Dim::seq_q);
  p.seq_k = sizes.of(Dim::seq_k);
  p.dim_qk = sizes.of(Dim::dim_qk);
  p.dim_v = sizes.of(Dim::dim_v);
  p.page_size = sizes.of(Dim::page_size);
  p.pages = sizes.of(Dim::pages);
  p.append = sizes.of(Dim::append);
  p.lengths = call.cu_seqlens_q.given()    ? Lengths::varlen
              : call.cache_seqlens.given() ? Lengths::cache
                                           : Lengths::dense;
  p.seqused_q = call.seqused_q.given();
  p.seqused_k = call.seqused_k.given();
  p.batch_index = call.cache_batch_idx.given();
  p.leftpad = call.leftpad.given();
}

void fill_scores(Problem& p, const Call& call, const Sizes& sizes) {
  p.left = std::max(call.left, open_side);
  p.right = std::max(call.right, open_side);
  p.diagonal_given = call.diagonal_given;
  p.diagonal_per_batch = call.diagonals.given();
  p.diagonal = call.diagonal_given ? call.diagonal : 0;
  if (call.scale_given) p.scale = call.scale;
  p.softcap = call.softcap;
  if (call.alibi.given()) p.alibi = call.alibi.rank == 2 ? Alibi::per_batch_head : Alibi::per_head;
  p.bias = bias_shape(call.bias, sizes);
  p.sink = call.sink.given() ? call.sink.dtype : DType::none;
  p.dropout = call.dropout;
  p.rotary = rotary_of(call);
}

void fill_wants(Problem& p, const Call& call) {
  p.want_lse = p.forward() && call.lse.given();
  p.want_mask = call.dropout_mask.given();
  p.want_dlse = call.dlse.given();
  p.want_dbias = call.dbias.given();
  p.want_dsink = call.dsink.given();
  p.splits = call.splits;
  p.deterministic = call.deterministic;
}

}  // namespace

Status describe(const Call& call, Problem& problem) {
  FW_TRY(check_scalars(call));
  FW_TRY(check_tensors(call));
  FW_TRY(check_needs(call));
  Sizes sizes;
  FW_TRY(take_sizes(sizes, call));
  FW_TRY(check_rotary_width(call));
  Problem p;
  p.pass = call.pass;
  p.dtype = call.q.dtype;
  fill_sizes(p, call, sizes);
  fill_scores(p, call, sizes);
  fill_wants(p, call);
  FW_TRY(check(p));
  FW_TRY(check_origin(call, p));
  FW_TRY(check_overlaps(call));
  problem = p;
  return {};
}

}  // namespace fw
