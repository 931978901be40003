#include "backend/args.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace fw {
namespace {

// (B,S,H,D), (T,H,D), or pages (pages,page_size,H,D), whose batch stride is that of a page.
Tensor rows_of(const View& view) {
  if (!view.given()) return {};
  const int row = view.rank - 3;
  return {view.data, row > 0 ? view.stride[0] : 0, view.stride[row], view.stride[row + 1]};
}

// (B,H,S) or (H,T): one value a query and head.
Tensor values_of(const View& view) {
  if (!view.given()) return {};
  const int head = view.rank - 2;
  return {view.data, head > 0 ? view.stride[0] : 0, view.stride[head + 1], view.stride[head]};
}

const int* ints_of(const View& view) { return view.given() ? static_cast<const int*>(view.data) : nullptr; }

i64 stride_unless_one(const View& view, int dimension) {
  return view.shape[dimension] == 1 ? 0 : view.stride[dimension];
}

std::int64_t given_or(std::int64_t given, std::int64_t own) { return given != 0 ? given : own; }

// Stands for a tensor of which only the presence matters.
char presence;

void set_dropout(Args& a, const Problem& p) {
  const double steps = std::round(static_cast<double>(p.dropout) * 65536.0);
  a.drop_below = static_cast<u32>(std::min(steps, 65535.0));
  a.keep_scale = static_cast<float>(1.0 / (1.0 - a.drop_below / 65536.0));
}

void set_scores(Args& a, const Call& call) {
  a.alibi = static_cast<const float*>(call.alibi.data);
  if (call.alibi.rank == 2) a.alibi_batch = call.alibi.stride[0];
  a.sink = call.sink.data;
  a.dsink = call.dsink.data;
  if (call.bias.given()) {
    a.bias = call.bias.data;
    a.bias_batch = stride_unless_one(call.bias, 0);
    a.bias_head = stride_unless_one(call.bias, 1);
    a.bias_row = stride_unless_one(call.bias, 2);
  }
  if (call.dbias.given()) {
    a.dbias = call.dbias.data;
    a.dbias_batch = stride_unless_one(call.dbias, 0);
    a.dbias_head = stride_unless_one(call.dbias, 1);
    a.dbias_row = stride_unless_one(call.dbias, 2);
  }
}

void set_dropout_place(Args& a, const Problem& p, const Call& call) {
  a.seed = call.seed;
  a.offset = call.offset;
  a.origin_batch = call.origin_batch;
  a.origin_head = call.origin_head;
  a.origin_q = call.origin_q;
  a.origin_k = call.origin_k;
  a.global_heads = given_or(call.global_heads, p.heads_q);
  a.global_seq_q = given_or(call.global_seq_q, p.seq_q);
  a.global_seq_k = given_or(call.global_seq_k, p.seq_k);
  if (call.dropout_mask.given()) {
    a.dropout_mask = static_cast<unsigned char*>(call.dropout_mask.data);
    a.mask_batch = call.dropout_mask.stride[0];
    a.mask_head = call.dropout_mask.stride[1];
    a.mask_row = call.dropout_mask.stride[2];
  }
}

void set_lengths(Args& a, const Call& call) {
  a.cu_seqlens_q = ints_of(call.cu_seqlens_q);
  a.cu_seqlens_k = ints_of(call.cu_seqlens_k);
  a.seqused_q = ints_of(call.seqused_q);
  a.seqused_k = ints_of(call.seqused_k.given() ? call.seqused_k : call.cache_seqlens);
  a.block_table = ints_of(call.block_table);
  a.block_table_stride = call.block_table.given() ? call.block_table.stride[0] : 0;
  a.cache_batch_idx = ints_of(call.cache_batch_idx);
  a.leftpad = ints_of(call.leftpad);
}

}  // namespace

std::optional<std::string> too_far(const Problem& p) {
  if (std::max(p.seq_q, p.seq_k) > longest_sequence)
    return say("sequences are at most ", longest_sequence, " long here; this one has sq ", p.seq_q,
               " and sk ", p.seq_k);
  if (p.alibi != Alibi::none && p.diagonal_given && std::abs(std::int64_t{p.diagonal}) > longest_sequence)
    return say("with ALiBi a diagonal is at most ", longest_sequence, " either way here; this one is ",
               p.diagonal);
  return {};
}

// What a query i sees follows from low = diagonal - left and high = diagonal + right: the keys i + low .. i +
// high. Beyond `reach` either way a bound shows or hides everything, whatever its value.
BoundedMask bound_mask(int left, int right, int diagonal) {
  constexpr std::int64_t reach = longest_sequence, widest = 2 * reach, farthest = 4 * reach;
  // Positions are under `widest` then, so that a wider window is an open one, and ALiBi meets the diagonal as
  // given.
  if (std::abs(std::int64_t{diagonal}) <= reach)
    return {left > widest ? open_side : left, right > widest ? open_side : right, diagonal};
  const std::int64_t low = left < 0 ? -reach : std::clamp(std::int64_t{diagonal} - left, -reach, reach);
  const std::int64_t high = right < 0 ? reach : std::clamp(std::int64_t{diagonal} + right, -reach, reach);
  std::int64_t moved = std::clamp<std::int64_t>(diagonal, -farthest, farthest);
  if (left > widest) moved = low > -reach ? low + widest : std::min(moved, widest - reach);
  if (right > widest) moved = high < reach ? high - widest : std::max(moved, reach - widest);
  const auto side = [=](int given) {
    return given < 0 ? open_side : static_cast<int>(std::min<std::int64_t>(given, widest));
  };
  return {side(left), side(right), static_cast<int>(moved)};
}

Args shape_args(const Problem& p) {
  Args a{};
  a.element = static_cast<Element>(p.dtype);
  a.batch = static_cast<int>(p.batch);
  a.heads_q = static_cast<int>(p.heads_q);
  a.heads_k = static_cast<int>(p.heads_k);
  a.seq_q = static_cast<int>(p.seq_q);
  a.seq_k = static_cast<int>(p.seq_k);
  a.dim_qk = static_cast<int>(p.dim_qk);
  a.dim_v = static_cast<int>(p.dim_v);
  a.append = static_cast<int>(p.append);
  a.page_size = static_cast<int>(p.page_size);
  const BoundedMask mask = bound_mask(p.left, p.right, p.diagonal);
  a.left = mask.left;
  a.right = mask.right;
  a.has_diagonal = p.diagonal_given;
  a.diagonal = mask.diagonal;
  a.scale = p.scale_or_default();
  a.softcap = p.softcap;
  set_dropout(a, p);
  a.bias_element = static_cast<Element>(p.bias.dtype);
  a.sink_element = static_cast<Element>(p.sink);
  if (p.alibi != Alibi::none) a.alibi = reinterpret_cast<const float*>(&presence);
  if (p.bias.given()) a.bias = &presence;
  if (p.want_dbias) a.dbias = &presence;
  return a;
}

Args call_args(const Problem& p, const Call& call) {
  Args a = shape_args(p);
  a.q = rows_of(call.q);
  a.k = rows_of(call.k);
  a.v = rows_of(call.v);
  a.out = rows_of(call.out);
  a.dout = rows_of(call.dout);
  a.dq = rows_of(call.dq);
  a.dk = rows_of(call.dk);
  a.dv = rows_of(call.dv);
  a.lse = values_of(call.lse);
  a.dlse = values_of(call.dlse);
  set_lengths(a, call);
  set_scores(a, call);
  set_dropout_place(a, p, call);
  a.diagonals = ints_of(call.diagonals);
  return a;
}

}  // namespace fw
