// One kernel for long sequences; which one, the flags of its row in kernels.tsv say.
#include "amd/kernels/fast.hpp"

namespace fw::FLASHWAVE_TARGET {

using Instance = Stream<FW_ELEMENT, Tile<FW_QK, FW_V, FW_M, FW_KEYS>, FW_ROW_GROUPS, FW_AHEAD>;

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(512, 512), amdgpu_waves_per_eu(2, 2))) void
FLASHWAVE_KERNEL(fw::amd::AttentionLaunch) {
  fw::FLASHWAVE_TARGET::fast_attention<fw::FLASHWAVE_TARGET::Instance>();
}
