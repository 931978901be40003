#include "api/convert.hpp"

#include <string>

namespace fw::api {
namespace {

template <class Enum>
Status to_enum(const char* name, std::int32_t value, Enum last, Enum& out) {
  if (value < 0 || value > static_cast<int>(last))
    return invalid(std::string(name) + " is " + std::to_string(value) + ", it goes from 0 to " +
                   std::to_string(static_cast<int>(last)));
  out = static_cast<Enum>(value);
  return {};
}

Status convert(const char* name, const flashwave_tensor& from, View& to) {
  to = View{};
  if (from.rank < 0 || from.rank > View::max_rank)
    return invalid(std::string(name) + " has rank " + std::to_string(from.rank) +
                   ", it goes from 0 (absent) to " + std::to_string(View::max_rank));
  if (from.rank == 0)
    return from.data ? invalid(std::string(name) + " has data but rank 0, which means absent") : Status();
  FW_TRY(to_enum((std::string(name) + ".dtype").c_str(), from.dtype, DType::int64, to.dtype));
  to.data = from.data;
  to.rank = from.rank;
  for (int i = 0; i < from.rank; ++i) {
    to.shape[i] = from.shape[i];
    to.stride[i] = from.stride[i];
  }
  return {};
}

template <class From, class To>
struct TensorField {
  const char* name;
  flashwave_tensor From::* from;
  View To::* to;
};

#define FIELD(name) {#name, &flashwave_attention::name, &Call::name}
constexpr TensorField<flashwave_attention, Call> call_tensors[] = {
    FIELD(q),
    FIELD(k),
    FIELD(v),
    FIELD(out),
    FIELD(lse),
    FIELD(dout),
    FIELD(dlse),
    FIELD(dq),
    FIELD(dk),
    FIELD(dv),
    FIELD(dbias),
    FIELD(dsink),
    FIELD(alibi),
    FIELD(bias),
    FIELD(sink),
    FIELD(dropout_mask),
    FIELD(cu_seqlens_q),
    FIELD(cu_seqlens_k),
    FIELD(seqused_q),
    FIELD(seqused_k),
    FIELD(diagonals),
    FIELD(cache_seqlens),
    FIELD(block_table),
    FIELD(cache_batch_idx),
    FIELD(leftpad),
    FIELD(k_new),
    FIELD(v_new),
    FIELD(rotary_cos),
    FIELD(rotary_sin),
    FIELD(rotary_seqlens),
};
#undef FIELD

#define FIELD(name) {#name, &flashwave_combine::name, &CombineCall::name}
constexpr TensorField<flashwave_combine, CombineCall> combine_tensors[] = {
    FIELD(outs), FIELD(lses), FIELD(sink), FIELD(out), FIELD(lse),
};
#undef FIELD

}  // namespace

Status convert(const flashwave_attention& from, Call& to) {
  to = Call{};
  FW_TRY(to_enum("pass", from.pass, Pass::backward, to.pass));
  for (const auto& field : call_tensors) FW_TRY(convert(field.name, from.*field.from, to.*field.to));
  to.max_seq_q = from.max_seq_q;
  to.max_seq_k = from.max_seq_k;
  to.rotary_interleaved = from.rotary_interleaved != 0;
  to.scale_given = from.has_scale != 0;
  to.scale = from.scale;
  to.softcap = from.softcap;
  if (from.has_window) {
    to.left = from.window_left < 0 ? open_side : from.window_left;
    to.right = from.window_right < 0 ? open_side : from.window_right;
  }
  to.diagonal_given = from.has_diagonal != 0;
  to.diagonal = from.has_diagonal ? from.diagonal : 0;
  to.dropout = from.dropout;
  to.seed = from.seed;
  to.offset = from.offset;
  to.origin_batch = from.origin_batch;
  to.origin_head = from.origin_head;
  to.origin_q = from.origin_q;
  to.origin_k = from.origin_k;
  to.global_heads = from.global_heads;
  to.global_seq_q = from.global_seq_q;
  to.global_seq_k = from.global_seq_k;
  to.splits = from.num_splits;
  to.deterministic = from.deterministic != 0;
  to.workspace = from.workspace;
  to.workspace_bytes = from.workspace_bytes;
  to.stream = from.stream;
  if (!from.allocate != !from.release) return invalid("allocate and release must be given together");
  to.allocator = {from.allocate, from.release, from.allocator_context};
  return {};
}

Status convert(const flashwave_combine& from, CombineCall& to) {
  to = CombineCall{};
  for (const auto& field : combine_tensors) FW_TRY(convert(field.name, from.*field.from, to.*field.to));
  return {};
}

Status convert(const flashwave_problem& from, Problem& to) {
  to = Problem{};
  FW_TRY(to_enum("pass", from.pass, Pass::both, to.pass));
  FW_TRY(to_enum("dtype", from.dtype, DType::int64, to.dtype));
  to.batch = from.batch;
  to.heads_q = from.heads_q;
  to.heads_k = from.heads_k;
  to.seq_q = from.seq_q;
  to.seq_k = from.seq_k;
  to.dim_qk = from.dim_qk;
  to.dim_v = from.dim_v;
  to.left = from.window_left < 0 ? open_side : from.window_left;
  to.right = from.window_right < 0 ? open_side : from.window_right;
  to.diagonal_given = from.has_diagonal != 0;
  to.diagonal_per_batch = from.diagonal_per_batch != 0;
  to.diagonal = from.diagonal;
  if (from.has_scale) to.scale = from.scale;
  to.softcap = from.softcap;
  FW_TRY(to_enum("alibi", from.alibi, Alibi::per_batch_head, to.alibi));
  FW_TRY(to_enum("bias", from.bias, DType::int64, to.bias.dtype));
  to.bias.batch = from.bias_batch != 0;
  to.bias.head = from.bias_head != 0;
  to.bias.query = from.bias_query != 0;
  FW_TRY(to_enum("sink", from.sink, DType::int64, to.sink));
  to.dropout = from.dropout;
  FW_TRY(to_enum("lengths", from.lengths, Lengths::cache, to.lengths));
  to.seqused_q = from.seqused_q != 0;
  to.seqused_k = from.seqused_k != 0;
  to.page_size = from.page_size;
  to.pages = from.pages;
  to.append = from.append;
  to.rotary.dim = from.rotary_dim;
  to.rotary.interleaved = from.rotary_interleaved != 0;
  FW_TRY(to_enum("rotary_dtype", from.rotary_dtype, DType::int64, to.rotary.dtype));
  to.batch_index = from.batch_index != 0;
  to.leftpad = from.leftpad != 0;
  to.splits = from.splits;
  to.want_lse = from.want_lse != 0;
  to.want_mask = from.want_mask != 0;
  to.want_dlse = from.want_dlse != 0;
  to.want_dbias = from.want_dbias != 0;
  to.want_dsink = from.want_dsink != 0;
  to.deterministic = from.deterministic != 0;
  return {};
}

flashwave_problem convert(const Problem& from) {
  flashwave_problem to{};
  to.struct_size = sizeof to;
  to.pass = static_cast<int>(from.pass);
  to.dtype = static_cast<int>(from.dtype);
  to.batch = from.batch;
  to.heads_q = from.heads_q;
  to.heads_k = from.heads_k;
  to.seq_q = from.seq_q;
  to.seq_k = from.seq_k;
  to.dim_qk = from.dim_qk;
  to.dim_v = from.dim_v;
  to.window_left = from.left;
  to.window_right = from.right;
  to.has_diagonal = from.diagonal_given;
  to.diagonal_per_batch = from.diagonal_per_batch;
  to.diagonal = from.diagonal;
  to.has_scale = from.scale.has_value();
  to.scale = from.scale.value_or(0.0f);
  to.softcap = from.softcap;
  to.alibi = static_cast<int>(from.alibi);
  to.bias = static_cast<int>(from.bias.dtype);
  to.bias_batch = from.bias.batch;
  to.bias_head = from.bias.head;
  to.bias_query = from.bias.query;
  to.sink = static_cast<int>(from.sink);
  to.dropout = from.dropout;
  to.lengths = static_cast<int>(from.lengths);
  to.seqused_q = from.seqused_q;
  to.seqused_k = from.seqused_k;
  to.page_size = from.page_size;
  to.pages = from.pages;
  to.append = from.append;
  to.rotary_dim = from.rotary.dim;
  to.rotary_interleaved = from.rotary.interleaved;
  to.rotary_dtype = static_cast<int>(from.rotary.dtype);
  to.batch_index = from.batch_index;
  to.leftpad = from.leftpad;
  to.splits = from.splits;
  to.want_lse = from.want_lse;
  to.want_mask = from.want_mask;
  to.want_dlse = from.want_dlse;
  to.want_dbias = from.want_dbias;
  to.want_dsink = from.want_dsink;
  to.deterministic = from.deterministic;
  return to;
}

}  // namespace fw::api
