#include "problem/tensors.hpp"

#include "problem/overlap.hpp"
#include "problem/refuse.hpp"

namespace fw {
namespace {

using enum Use;
using D = Dim;

constexpr Dims q_rows_of(Dim last) { return {D::q_batch, D::q_row, D::heads_q, last}; }
constexpr Dims k_rows_of(Dim last) { return {D::k_batch, D::k_row, D::heads_k, last}; }
constexpr Dims lse_dims = {D::q_batch, D::heads_q, D::q_row};
constexpr Dims bias_dims = {D::batch_or_1, D::heads_q_or_1, D::seq_q_or_1, D::seq_k};

constexpr TensorRow rows[] = {
    {"cu_seqlens_q", &Call::cu_seqlens_q, optional_in, optional_in, Kind::int32, {D::batch_plus_1}},
    {"q", &Call::q, in, in, Kind::own, q_rows_of(D::dim_qk)},
    {"cu_seqlens_k", &Call::cu_seqlens_k, optional_in, optional_in, Kind::int32, {D::batch_plus_1}},
    {"block_table", &Call::block_table, optional_in, optional_in, Kind::int32, {D::batch, D::columns}},
    {"k", &Call::k, in, in, Kind::own, k_rows_of(D::dim_qk)},
    {"v", &Call::v, in, in, Kind::own, k_rows_of(D::dim_v)},
    {"out", &Call::out, out, in, Kind::own, q_rows_of(D::dim_v)},
    {"lse", &Call::lse, optional_out, in, Kind::fp32, lse_dims},

    {"dout", &Call::dout, unused, in, Kind::own, q_rows_of(D::dim_v)},
    {"dlse", &Call::dlse, unused, optional_in, Kind::fp32, lse_dims},
    {"dq", &Call::dq, unused, out, Kind::own, q_rows_of(D::dim_qk)},
    {"dk", &Call::dk, unused, out, Kind::own, k_rows_of(D::dim_qk)},
    {"dv", &Call::dv, unused, out, Kind::own, k_rows_of(D::dim_v)},
    {"dbias", &Call::dbias, unused, optional_out, Kind::like_bias, bias_dims},
    {"dsink", &Call::dsink, unused, optional_out, Kind::like_sink, {D::heads_q}},

    {"alibi", &Call::alibi, optional_in, optional_in, Kind::fp32, {D::optional_batch, D::heads_q}},
    {"bias", &Call::bias, optional_in, optional_in, Kind::by_rule, bias_dims},
    {"sink", &Call::sink, optional_in, optional_in, Kind::by_rule, {D::heads_q}},
    {"dropout_mask",
     &Call::dropout_mask,
     optional_out,
     unused,
     Kind::uint8,
     {D::batch, D::heads_q, D::seq_q, D::seq_k}},

    {"seqused_q", &Call::seqused_q, optional_in, optional_in, Kind::int32, {D::batch}},
    {"seqused_k", &Call::seqused_k, optional_in, optional_in, Kind::int32, {D::batch}},
    {"diagonals", &Call::diagonals, optional_in, optional_in, Kind::int32, {D::batch}},

    {"cache_seqlens", &Call::cache_seqlens, optional_in, optional_in, Kind::int32, {D::batch}},
    {"cache_batch_idx", &Call::cache_batch_idx, optional_in, optional_in, Kind::int32, {D::batch}},
    {"leftpad", &Call::leftpad, optional_in, optional_in, Kind::int32, {D::batch}},
    {"k_new",
     &Call::k_new,
     optional_in,
     optional_in,
     Kind::own,
     {D::batch, D::append, D::heads_k, D::dim_qk}},
    {"v_new", &Call::v_new, optional_in, optional_in, Kind::own, {D::batch, D::append, D::heads_k, D::dim_v}},
    {"rotary_cos",
     &Call::rotary_cos,
     optional_in,
     optional_in,
     Kind::by_rule,
     {D::positions, D::rotary_half}},
    {"rotary_sin",
     &Call::rotary_sin,
     optional_in,
     optional_in,
     Kind::like_cos,
     {D::positions, D::rotary_half}},
    {"rotary_seqlens", &Call::rotary_seqlens, optional_in, optional_in, Kind::int32, {D::batch}},
};

bool is_paged(const Call& call) { return call.block_table.given(); }
bool is_ragged(const Call& call) { return call.cu_seqlens_q.given(); }

Status check_presence(const TensorRow& row, const Call& call) {
  const std::string_view pass = call.pass == Pass::backward ? "backward" : "forward";
  const bool given = (call.*row.member).given();
  const Use use = row.use(call.pass);
  if (given && use == unused)
    return refuse("tensor-unused", row.name, " is given, but the ", pass, " pass has no use for it");
  if (!given && (use == in || use == out))
    return refuse("tensor-missing", row.name, " is missing; the ", pass, " pass ",
                  use == in ? "reads it" : "writes it");
  return {};
}

Status check_dtype(const TensorRow& row, const Call& call) {
  const DType dtype = (call.*row.member).dtype;
  const auto must_be = [&](DType wanted, std::string_view why) -> Status {
    if (dtype == wanted) return {};
    if (dtype == DType::int64 && wanted == DType::int32)
      return refuse("dtype-int64", row.name, " is int64; lengths, tables and indices are int32");
    return refuse("tensor-dtype", row.name, " is ", name_of(dtype), "; it is ", name_of(wanted), why);
  };
  switch (row.kind) {
    case Kind::own:
      if (dtype != call.q.dtype)
        return refuse("dtype-mixed", row.name, " is ", name_of(dtype), ", but q is ", name_of(call.q.dtype),
                      "; q, k, v, out and their gradients have one dtype");
      return {};
    case Kind::by_rule: return {};
    case Kind::like_bias: return call.bias.given() ? must_be(call.bias.dtype, ", like bias") : Status();
    case Kind::like_sink: return call.sink.given() ? must_be(call.sink.dtype, ", like sink") : Status();
    case Kind::like_cos: return must_be(call.rotary_cos.dtype, ", like rotary_cos");
    case Kind::fp32: return must_be(DType::fp32, "");
    case Kind::int32: return must_be(DType::int32, "");
    case Kind::uint8: return must_be(DType::uint8, "");
  }
  return {};
}

}  // namespace

std::span<const TensorRow> tensor_rows() { return rows; }

bool is_written(const TensorRow& row, const Call& call) {
  const Use use = row.use(call.pass);
  if (use == out || use == optional_out) return true;
  return call.k_new.given() && (row.member == &Call::k || row.member == &Call::v);
}

Dims dims_in(const TensorRow& row, const Call& call) {
  Dims out;
  for (int i = 0; i < row.dims.rank; ++i) {
    const Dim dim = row.dims.at[i];
    if (dim == D::q_batch) {
      if (!is_ragged(call)) out.push(D::batch);
    } else if (dim == D::q_row) {
      out.push(is_ragged(call) ? D::rows_q : D::seq_q);
    } else if (dim == D::k_batch) {
      if (is_paged(call))
        out.push(D::pages);
      else if (!is_ragged(call))
        out.push(call.cache_batch_idx.given() ? D::cache_rows : D::batch);
    } else if (dim == D::k_row) {
      out.push(is_paged(call) ? D::page_size : is_ragged(call) ? D::rows_k : D::seq_k);
    } else if (dim == D::optional_batch) {
      if ((call.*row.member).rank == row.dims.rank) out.push(D::batch);
    } else {
      out.push(dim);
    }
  }
  return out;
}

Status check_tensors(const Call& call) {
  for (const TensorRow& row : rows) {
    FW_TRY(check_presence(row, call));
    const View& view = call.*row.member;
    if (view.rank == 0) continue;
    FW_TRY(check_view(row.name, view));
    FW_TRY(check_dtype(row, call));
  }
  return {};
}

Status check_overlaps(const Call& call) {
  for (const TensorRow& row : rows) {
    const View& view = call.*row.member;
    if (!view.given() || !is_written(row, call)) continue;
    if (overlaps_itself(view))
      return refuse("output-overlap", row.name, " is written, but two of its indices name the same element");
    for (const TensorRow& other : rows) {
      // Two outputs are compared once.
      if (&other == &row || (is_written(other, call) && &other < &row)) continue;
      if (overlap(view, call.*other.member))
        return refuse("output-overlap", row.name, " is written, but shares memory with ", other.name);
    }
  }
  return {};
}

}  // namespace fw
