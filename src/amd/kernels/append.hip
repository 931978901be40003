// New keys and values into the cache, the keys turned.
#include "amd/kernels/row.hpp"

namespace fw::FLASHWAVE_TARGET {

FLASHWAVE_DEVICE void append(const amd::AppendLaunch& l) {
  const Args& a = l.args;
  const i64 piece = piece_number(l);
  const int b = uniform(piece / l.tokens), token = uniform(piece % l.tokens);
  Sequence s = bounded_sequence(a, l.bounds, b);
  s.first_slot = 0;  // slots count padding
  const i64 slot = (i64)l.filled[b] + token;
  const i64 slots = a.page_size ? (i64)l.bounds.columns * a.page_size : a.seq_k;
  if (slot < 0 || slot >= slots) return;

  const i64 position = l.rotary.start ? clamp((i64)l.rotary.start[b] + token, 0, l.bounds.positions - 1) : 0;
  const Rows keys{
      a.k,       l.k_new, key_offset(a, a.k, s, 0, (int)slot), b * l.k_new.batch + token * l.k_new.row,
      a.heads_k, a.dim_qk};
  const Rows values{
      a.v,       l.v_new, key_offset(a, a.v, s, 0, (int)slot), b * l.v_new.batch + token * l.v_new.row,
      a.heads_k, a.dim_v};
  turn_rows(keys, a.element, l.rotary, l.rotary.start ? l.rotary.dim : 0, position);
  turn_rows(values, a.element, l.rotary, 0, 0);
}

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void FLASHWAVE_KERNEL(
    fw::amd::AppendLaunch) {
  fw::FLASHWAVE_TARGET::append(fw::FLASHWAVE_TARGET::arguments<fw::amd::AppendLaunch>());
}
