// The dropout mask: 1 = kept.
#include "amd/kernels/row.hpp"
#include "meaning/dropout.hpp"

namespace fw::FLASHWAVE_TARGET {

// A thread writes the slots of one call of the generator at a time.
FLASHWAVE_DEVICE void mask(const amd::MaskLaunch& l) {
  const Args& a = l.args;
  i64 piece = piece_number(l);
  const int query = uniform(piece % a.seq_q);
  piece /= a.seq_q;
  const int head = uniform(piece % a.heads_q), batch = uniform(piece / a.heads_q);
  auto* const row = (FLASHWAVE_GLOBAL unsigned char*)a.dropout_mask + batch * a.mask_batch +
                    head * a.mask_head + query * a.mask_row;
  const u64 counter = dropout_row(a, batch, head, query);
  for (int first = thread_id() * 8; first < a.seq_k; first += group_threads * 8) {
    const u64 call = counter + first / 8;
    const auto numbers = philox(Word((u32)call), Word((u32)(call >> 32)), a.seed);
    FLASHWAVE_EACH(place, 8)
    if (first + place < a.seq_k) row[first + place] = !dropped(a, dropout_number(numbers, place));
  }
}

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void FLASHWAVE_KERNEL(
    fw::amd::MaskLaunch) {
  fw::FLASHWAVE_TARGET::mask(fw::FLASHWAVE_TARGET::arguments<fw::amd::MaskLaunch>());
}
