// One attention kernel; which one, the flags of its row in kernels.tsv say.
#include "amd/kernels/attend.hpp"

namespace fw::FLASHWAVE_TARGET {

using Instance = Shape<FW_ELEMENT, Dims<FW_QK, FW_V>, Block<FW_WAVES, FW_ROW_GROUPS, FW_KEYS>, FW_SCORED>;

}  // namespace fw::FLASHWAVE_TARGET

extern "C" __attribute__((global, amdgpu_flat_work_group_size(FW_WAVES * 64, FW_WAVES * 64),
                          amdgpu_waves_per_eu(FW_OCCUPANCY))) void
FLASHWAVE_KERNEL(fw::amd::AttentionLaunch) {
  fw::FLASHWAVE_TARGET::attention<fw::FLASHWAVE_TARGET::Instance>();
}
