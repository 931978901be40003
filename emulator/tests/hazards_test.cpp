// Wait states: one too few is a fault that names the pair, as many as are asked for are none.
#include "faults.hpp"

namespace cdna::test {
namespace {

struct Row {
  uint8_t archs;  // a bit for each
  const char *first, *second;
  int states;
  const char* part;
};
constexpr uint8_t k90a = 1, k942 = 2, k950 = 4, kNew = k942 | k950, kAll = 7;

const char* const kReadsSgpr = "reads an SGPR that a vector instruction wrote";
const char* const kReadsMatrix = "that a matrix instruction wrote";

constexpr Row kRows[] = {
    // Scalars from vector instructions.
    {kAll, "v_readfirstlane_b32 s8, v0", "global_load_dword v3, v1, s[8:9]", 5, kReadsSgpr},
    {kAll, "v_readfirstlane_b32 s8, v0", "v_readlane_b32 s9, v0, s8", 4, "the lane is chosen by an SGPR"},
    {kAll, "v_readfirstlane_b32 s8, v0", "v_writelane_b32 v3, 5, s8", 4, "the lane is chosen by an SGPR"},
    {kNew, "v_readfirstlane_b32 s8, v0", "v_writelane_b32 v3, s8, 5", 2, kReadsSgpr},
    {kNew, "v_readfirstlane_b32 s8, v0", "v_add_u32 v3, s8, v0", 2, kReadsSgpr},
    {kAll, "v_cmp_eq_u32 vcc, v0, v1", "v_div_fmas_f32 v3, v0, v0, v0", 4, "v_div_fmas reads VCC"},
    {kAll, "v_cmpx_eq_u32 vcc, v0, v0",
     "v_mov_b32_dpp v4, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", 5, "DPP after"},
    {kAll, "s_mov_b32 m0, 0", "ds_read_addtid_b32 v3", 1, "M0 was just written"},
    // Vectors.
    {kAll, "v_mov_b32 v3, 1", "v_mov_b32_dpp v4, v3 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", 2,
     "DPP reads v3"},
    {kNew, "v_exp_f32 v3, v1", "v_mul_f32 v4, v3, v3", 1, "a transcendental instruction wrote"},
    {kNew, "v_mov_b32_sdwa v3, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0",
     "v_add_u32 v4, v3, v3", 1, "whose half or byte was just written"},
    {kNew, "v_mov_b32 v3, 1", "v_readlane_b32 s8, v3, 0", 1, "reads a lane of v3"},
    {k950, "v_mov_b32 v3, 1", "v_permlane32_swap_b32 v3, v4", 2, "v_permlane reads v3"},
    {kNew, "global_store_dwordx4 v1, v[20:23], s[4:5]", "v_mov_b32 v21, 0", 2, "that a store sends"},
    {k90a, "global_store_dwordx3 v1, v[20:22], s[4:5]", "v_mov_b32 v21, 0", 1, "that a store sends"},
    // Into matrix instructions.
    {kAll, "v_mov_b32 v10, 0", "v_mfma_f32_16x16x16f16 v[20:23], v[10:11], v[12:13], 0", 2,
     "a matrix instruction reads v10"},
    {kAll, "v_mov_b32 v24, 0", "v_mfma_f32_16x16x16f16 v[20:23], v[10:11], v[12:13], v[24:27]", 2,
     "a matrix instruction reads v24"},
    // Out of them: 4, 8 and 16 passes.
    {k942, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0", "v_mov_b32 v30, v20", 7, kReadsMatrix},
    {k950, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0", "v_mov_b32 v30, v20", 8, kReadsMatrix},
    {k90a, "v_mfma_f32_16x16x16f16 v[20:23], v[10:11], v[12:13], 0", "v_mov_b32 v30, v20", 11, kReadsMatrix},
    {k942, "v_mfma_f32_32x32x8_f16 v[20:35], v[10:11], v[12:13], 0", "global_store_dword v1, v20, s[4:5]", 11,
     kReadsMatrix},
    {k942, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0", "ds_write_b32 v1, v22", 7,
     kReadsMatrix},
    {k942, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0", "v_mov_b32 v21, 0", 7,
     "overwrites v21 (of the register file) that a matrix instruction writes"},
    {kNew, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], v[24:27]", "v_mov_b32 v24, 0", 3,
     "overwrites v24 (of the register file) that a matrix instruction reads"},
    // From one to another.
    {k942, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0",
     "v_mfma_f32_16x16x16_f16 v[40:43], v[20:21], v[12:13], 0", 7,
     "reads v20 (of the register file) that another one wrote"},
    {k942, "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0",
     "v_mfma_f32_16x16x16_f16 v[40:43], v[14:15], v[12:13], v[22:25]", 5,
     "reads v22 (of the register file) that another one wrote"},
};

std::string wait(int states) {
  std::string text;
  for (; states > 0; states -= 8) text += "\ns_nop " + std::to_string(std::min(states, 8) - 1);
  return text + "\n";
}

class Hazard : public Faults, public testing::WithParamInterface<Arch> {};

TEST_P(Hazard, OneStateTooFewIsAFault) {
  const Situation room{.lds = 1024};
  int known = 0;
  for (const Row& row : kRows) {
    if (!(row.archs >> static_cast<int>(GetParam()) & 1)) continue;
    ++known;
    const std::string first = row.first, second = row.second;
    expect(fault(GetParam(), first + wait(row.states - 1) + second, room), row.part);
    const std::string good = fault(GetParam(), first + wait(row.states) + second, room);
    EXPECT_EQ(good.find("wait states"), std::string::npos) << first << ", " << second << ": " << good;
  }
  EXPECT_GE(known, 10);
}

TEST_F(Faults, AccumulatorsThatAreReadAtOnceOrStayWhereTheyAre) {
  const auto fine = [this](const char* text) {
    EXPECT_EQ(fault(Arch::gfx942, text).find("wait states"), std::string::npos) << text;
  };
  fine("v_mfma_f32_16x16x4_f32 v[20:23], v10, v11, v[24:27]\nv_mov_b32 v24, 0");
  fine(
      "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], 0\n"
      "v_mfma_f32_16x16x16_f16 v[20:23], v[10:11], v[12:13], v[20:23]");
}

INSTANTIATE_TEST_SUITE_P(Each, Hazard, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
