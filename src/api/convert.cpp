#include "api/convert.hpp"

#include <type_traits>

#include "base/text.hpp"

namespace fw::api {
namespace {

// The last value that a caller may name.
constexpr Pass last_of(Pass) { return Pass::both; }
constexpr DType last_of(DType) { return DType::int64; }
constexpr Alibi last_of(Alibi) { return Alibi::per_batch_head; }
constexpr Lengths last_of(Lengths) { return Lengths::cache; }

template <class Enum>
Status to_enum(std::string_view name, std::int32_t value, Enum& out, Enum last = last_of(Enum{})) {
  if (value < 0 || value > static_cast<int>(last))
    return invalid(say(name, " is ", value, ", it goes from 0 to ", static_cast<int>(last)));
  out = static_cast<Enum>(value);
  return {};
}

Status convert(const char* name, const flashwave_tensor& from, View& to) {
  to = View{};
  if (from.rank < 0 || from.rank > View::max_rank)
    return invalid(say(name, " has rank ", from.rank, ", it goes from 0 (absent) to ", View::max_rank));
  if (from.rank == 0)
    return from.data ? invalid(say(name, " has data but rank 0, which means absent")) : Status();
  FW_TRY(to_enum(say("the dtype of ", name), from.dtype, to.dtype));
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

// Where flashwave_problem and Problem have the same field: one row each, for both directions.
template <class Theirs, class Ours, class Move>
void each_field(Theirs& theirs, Ours& ours, Move& move) {
  move("pass", theirs.pass, ours.pass);
  move("dtype", theirs.dtype, ours.dtype);
  move("batch", theirs.batch, ours.batch);
  move("heads_q", theirs.heads_q, ours.heads_q);
  move("heads_k", theirs.heads_k, ours.heads_k);
  move("seq_q", theirs.seq_q, ours.seq_q);
  move("seq_k", theirs.seq_k, ours.seq_k);
  move("dim_qk", theirs.dim_qk, ours.dim_qk);
  move("dim_v", theirs.dim_v, ours.dim_v);
  move("window_left", theirs.window_left, ours.left);
  move("window_right", theirs.window_right, ours.right);
  move("has_diagonal", theirs.has_diagonal, ours.diagonal_given);
  move("diagonal_per_batch", theirs.diagonal_per_batch, ours.diagonal_per_batch);
  move("diagonal", theirs.diagonal, ours.diagonal);
  move("softcap", theirs.softcap, ours.softcap);
  move("alibi", theirs.alibi, ours.alibi);
  move("bias", theirs.bias, ours.bias.dtype);
  move("bias_batch", theirs.bias_batch, ours.bias.batch);
  move("bias_head", theirs.bias_head, ours.bias.head);
  move("bias_query", theirs.bias_query, ours.bias.query);
  move("sink", theirs.sink, ours.sink);
  move("dropout", theirs.dropout, ours.dropout);
  move("lengths", theirs.lengths, ours.lengths);
  move("seqused_q", theirs.seqused_q, ours.seqused_q);
  move("seqused_k", theirs.seqused_k, ours.seqused_k);
  move("page_size", theirs.page_size, ours.page_size);
  move("pages", theirs.pages, ours.pages);
  move("append", theirs.append, ours.append);
  move("rotary_dim", theirs.rotary_dim, ours.rotary.dim);
  move("rotary_interleaved", theirs.rotary_interleaved, ours.rotary.interleaved);
  move("rotary_dtype", theirs.rotary_dtype, ours.rotary.dtype);
  move("batch_index", theirs.batch_index, ours.batch_index);
  move("leftpad", theirs.leftpad, ours.leftpad);
  move("splits", theirs.splits, ours.splits);
  move("want_lse", theirs.want_lse, ours.want_lse);
  move("want_mask", theirs.want_mask, ours.want_mask);
  move("want_dlse", theirs.want_dlse, ours.want_dlse);
  move("want_dbias", theirs.want_dbias, ours.want_dbias);
  move("want_dsink", theirs.want_dsink, ours.want_dsink);
  move("deterministic", theirs.deterministic, ours.deterministic);
}

struct ToOurs {
  Status status;  // of the first enum out of range
  template <class Theirs, class Ours>
  void operator()(std::string_view name, const Theirs& theirs, Ours& ours) {
    if constexpr (std::is_enum_v<Ours>) {
      if (Status found = to_enum(name, theirs, ours); status.ok()) status = std::move(found);
    } else if constexpr (std::is_same_v<Ours, bool>) {
      ours = theirs != 0;
    } else {
      ours = theirs;
    }
  }
};

struct ToTheirs {
  template <class Theirs, class Ours>
  void operator()(std::string_view, Theirs& theirs, const Ours& ours) {
    theirs = static_cast<Theirs>(ours);
  }
};

}  // namespace

Status convert(const flashwave_attention& from, Call& to) {
  to = Call{};
  FW_TRY(to_enum("pass", from.pass, to.pass, Pass::backward));
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
  to.allocator = {from.allocate, from.release, from.allocator_context};
  return {};
}

Status convert(const flashwave_combine& from, CombineCall& to) {
  to = CombineCall{};
  for (const auto& field : combine_tensors) FW_TRY(convert(field.name, from.*field.from, to.*field.to));
  to.stream = from.stream;
  return {};
}

Status convert(const flashwave_problem& from, Problem& to) {
  to = Problem{};
  ToOurs move;
  each_field(from, to, move);
  FW_TRY(move.status);
  if (to.left < 0) to.left = open_side;
  if (to.right < 0) to.right = open_side;
  if (from.has_scale) to.scale = from.scale;
  return {};
}

flashwave_problem convert(const Problem& from) {
  flashwave_problem to{};
  to.struct_size = sizeof to;
  ToTheirs move;
  each_field(to, from, move);
  to.has_scale = from.scale.has_value();
  to.scale = from.scale.value_or(0.0f);
  return to;
}

}  // namespace fw::api
