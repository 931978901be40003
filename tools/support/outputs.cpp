#include "support/outputs.hpp"

#include <algorithm>

#include "support/on_device.hpp"

namespace tools {

namespace {

// (B,Hq,Sq) or (Hq,Tq) of a q.
Shape lse_shape(const flashwave_tensor& q) {
  if (q.rank == 3) return {q.shape[1], q.shape[0]};
  return {q.shape[0], q.shape[2], q.shape[1]};
}

// (B,Hq,max Sq,max Sk)
Shape mask_shape(const flashwave_attention& call) {
  const bool varlen = given(call.cu_seqlens_q), paged = given(call.block_table);
  const std::int64_t batch =
      varlen ? std::max<std::int64_t>(call.cu_seqlens_q.shape[0] - 1, 0) : call.q.shape[0];
  const std::int64_t rows = varlen ? call.max_seq_q : call.q.shape[1];
  std::int64_t keys = varlen || paged ? call.max_seq_k : call.k.shape[1];
  if (paged && keys == 0) keys = call.block_table.shape[1] * call.k.shape[1];
  return {batch, call.q.shape[call.q.rank - 2], rows, keys};
}

Shape out_shape(const flashwave_attention& call) {
  Shape shape = shape_of(call.q);
  shape.back() = call.v.shape[call.v.rank - 1];
  return shape;
}

flashwave_tensor own_copy(const flashwave_tensor& t, Form form, Arena& arena) {
  const flashwave_tensor copied = arena.add(t.dtype, shape_of(t), form);
  copy(copied, t);
  return copied;
}

Form without_reversal(Form form) { return form == Form::backward ? Form::gaps : form; }
Form for_small(Form form) {
  return form == Form::rows || form == Form::heads_first ? Form::rows : Form::gaps;
}

void add_gradients(flashwave_attention& call, const Wants& wants, const Style& style, Form form,
                   Arena& arena) {
  const int dtype = style.dtype ? style.dtype : call.q.dtype;
  const Shape q = shape_of(call.q), k = shape_of(call.k), v = shape_of(call.v);
  call.dq = arena.add(dtype, q, form);
  if (style.packed) {
    const auto packed = arena.add_packed(dtype, {k, v});
    call.dk = packed[0];
    call.dv = packed[1];
  } else {
    call.dk = arena.add(dtype, k, form);
    call.dv = arena.add(dtype, v, form);
  }
  if (wants.dbias)
    call.dbias = arena.add(style.dtype ? style.dtype : call.bias.dtype, shape_of(call.bias), for_small(form));
  if (wants.dsink) call.dsink = arena.add(style.dtype ? style.dtype : call.sink.dtype, shape_of(call.sink));
}

}  // namespace

void add_outputs(flashwave_attention& call, const Wants& wants, const Style& style, Arena& arena) {
  const Form form = without_reversal(style.form);
  if (call.pass == FLASHWAVE_BACKWARD) {
    add_gradients(call, wants, style, form, arena);
    return;
  }
  call.out = arena.add(style.dtype ? style.dtype : call.q.dtype, out_shape(call), form);
  if (wants.lse) call.lse = arena.add(FLASHWAVE_FP32, lse_shape(call.q), for_small(form));
  if (wants.mask) call.dropout_mask = arena.add(FLASHWAVE_UINT8, mask_shape(call), for_small(form));
  if (given(call.k_new)) {
    call.k = own_copy(call.k, form, arena);
    call.v = own_copy(call.v, form, arena);
  }
}

Outcome run_on(const char* device, flashwave_attention call, std::optional<Memory> workspace) {
  call.device = device;
  if (workspace) TOOLS_TRY(Outcome::of(flashwave_workspace_size(&call, &call.workspace_bytes)));
  bool on_host = false;
  TOOLS_TRY(uses_host_memory(device, on_host));
  if (on_host) {
    Arena arena(workspace.value_or(Memory::plain));
    if (call.workspace_bytes > 0) call.workspace = arena.add_bytes(call.workspace_bytes);
    return Outcome::of(flashwave_run(&call));
  }
  OnDevice copies(device);
  TOOLS_TRY(copies.upload(call));
  if (call.workspace_bytes > 0) TOOLS_TRY(copies.add_bytes(call.workspace_bytes, poison, call.workspace));
  TOOLS_TRY(Outcome::of(flashwave_run(&call)));
  return copies.download();
}

}  // namespace tools
