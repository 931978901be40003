// The rules of a CombineCall.
#include "problem/call.hpp"
#include "problem/overlap.hpp"
#include "problem/refuse.hpp"
#include "problem/shapes.hpp"

namespace fw {
namespace {

using D = Dim;

struct Row {
  std::string_view name;
  View CombineCall::* member;
  bool required, written;
  Dims dense, ragged;
};

constexpr Row rows[] = {
    {"outs",
     &CombineCall::outs,
     true,
     false,
     {D::partials, D::batch, D::seq_q, D::heads_q, D::dim_v},
     {D::partials, D::rows_q, D::heads_q, D::dim_v}},
    {"lses",
     &CombineCall::lses,
     true,
     false,
     {D::partials, D::batch, D::heads_q, D::seq_q},
     {D::partials, D::heads_q, D::rows_q}},
    {"sink", &CombineCall::sink, false, false, {D::heads_q}, {D::heads_q}},
    {"out",
     &CombineCall::out,
     true,
     true,
     {D::batch, D::seq_q, D::heads_q, D::dim_v},
     {D::rows_q, D::heads_q, D::dim_v}},
    {"lse", &CombineCall::lse, false, true, {D::batch, D::heads_q, D::seq_q}, {D::heads_q, D::rows_q}},
};

bool is_out_dtype(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::fp16 || dtype == DType::bf16;
}

Status check_dtypes(const CombineCall& call) {
  const DType own = call.out.dtype;
  if (!is_out_dtype(own)) return refuse("dtype-known", "out is ", name_of(own), "; it is fp32, fp16 or bf16");
  const auto own_or_fp32 = [&](std::string_view name, const View& view) -> Status {
    if (view.dtype == own || view.dtype == DType::fp32) return {};
    return refuse("dtype-mixed", name, " is ", name_of(view.dtype), ", but out is ", name_of(own),
                  "; it is that or fp32");
  };
  FW_TRY(own_or_fp32("outs", call.outs));
  if (call.sink.given()) FW_TRY(own_or_fp32("sink", call.sink));
  if (call.lses.dtype != DType::fp32)
    return refuse("tensor-dtype", "lses is ", name_of(call.lses.dtype), "; it is fp32");
  if (call.lse.given() && call.lse.dtype != DType::fp32)
    return refuse("tensor-dtype", "lse is ", name_of(call.lse.dtype), "; it is fp32");
  return {};
}

// Strides of 0 make any size cheap to state, so what no call could finish is refused here.
Status check_counts(const CombineCall& call) {
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  for (int i = 0; i + 1 < call.outs.rank; ++i)
    if (call.outs.shape[i] > limit)
      return refuse_for_now("size-limit", "outs has size ", call.outs.shape[i], " in dimension ", i,
                            "; partials, batch, rows and heads go up to ", limit);
  return {};
}

Status check_overlaps(const CombineCall& call) {
  for (const Row& row : rows) {
    const View& view = call.*row.member;
    if (!row.written || !view.given()) continue;
    if (overlaps_itself(view))
      return refuse("output-overlap", row.name, " is written, but two of its indices name the same element");
    for (const Row& other : rows)
      if (&other != &row && overlap(view, call.*other.member))
        return refuse("output-overlap", row.name, " is written, but shares memory with ", other.name);
  }
  return {};
}

}  // namespace

Status check_combine(const CombineCall& call) {
  const bool ragged = call.outs.rank == 4;
  Sizes sizes;
  for (const Row& row : rows) {
    const View& view = call.*row.member;
    if (view.rank == 0 && !row.required) continue;
    if (view.rank == 0)
      return refuse("tensor-missing", row.name, " is missing; combine needs outs, lses and out");
    FW_TRY(check_view(row.name, view));
    FW_TRY(sizes.take(row.name, view, ragged ? row.ragged : row.dense));
  }
  FW_TRY(check_dtypes(call));
  if (sizes.of(Dim::dim_v) < 1 || sizes.of(Dim::dim_v) > max_dim_v)
    return refuse("dim-range", "outs has head dimension ", sizes.of(Dim::dim_v), "; it is 1 to ", max_dim_v);
  FW_TRY(check_counts(call));
  return check_overlaps(call);
}

}  // namespace fw
