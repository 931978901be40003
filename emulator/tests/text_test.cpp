// The operand parser loses nothing: what it prints assembles to the same bytes.
#include "decode/text.hpp"

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "decode/program.hpp"
#include "objects.hpp"
#include "rows.hpp"

namespace cdna::test {
namespace {

class Text : public testing::TestWithParam<Arch> {};

void expect_same(Arch arch, const std::vector<Code>& codes) {
  std::vector<std::string> printed;
  for (const Code& code : codes) {
    const auto plain = decode_plain(arch, code.data(), code.size());
    ASSERT_EQ(plain.size(), 1u);
    printed.push_back(print_text(plain[0].instruction, plain[0].mnemonic, arch));
  }
  const std::vector<Code> again = assemble_lines(arch, printed);
  for (size_t n = 0; n < codes.size(); ++n) EXPECT_EQ(again[n], codes[n]) << printed[n];
}

TEST_P(Text, OfCompiledKernelsAssemblesAgain) {
  const auto object = CodeObject::load(object_file(GetParam()));
  std::vector<Code> codes;
  for (const Kernel& k : object->kernels()) {
    const auto program = decode(object, k);
    for (size_t n = 0; n + 1 < program->code.size(); ++n) {
      const uint8_t* at = object->image() + program->listing[n].address;
      if (program->code[n].bytes) codes.emplace_back(at, at + program->code[n].bytes);
    }
  }
  EXPECT_GT(codes.size(), 500u);
  expect_same(GetParam(), codes);
}

TEST_P(Text, OfEveryRowAssemblesAgain) {
  std::vector<Code> codes;
  for (const Code& code : assemble_lines(GetParam(), all_lines(GetParam())))
    if (!code.empty() && decode_plain(GetParam(), code.data(), code.size()).size() == 1)
      codes.push_back(code);
  EXPECT_GT(codes.size(), 800u);
  expect_same(GetParam(), codes);
}

TEST_P(Text, OfModifiersAssemblesAgain) {
  const std::vector<std::string> lines = {
      "v_add_f32_dpp v1, v2, v3 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0x5",
      "v_mov_b32_dpp v1, v2 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:0",
      "v_mov_b32_dpp v1, v2 row_bcast:31 row_mask:0xc bank_mask:0xf",
      "v_mov_b32_dpp v1, v2 row_mirror row_mask:0xf bank_mask:0xf",
      "v_add_u32_sdwa v1, v2, sext(v3) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 "
      "src1_sel:WORD_0",
      "v_mul_f32_e64 v1, -v2, |v3| clamp mul:2",
      "v_fma_f32 v1, s4, -1.0, v3 div:2",
      "v_pk_fma_f16 v1, v2, v3, v4 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,0,1]",
      "v_mfma_f32_32x32x8f16 a[0:15], v[2:3], a[20:21], a[0:15]",
      "v_mfma_f32_32x32x1f32 v[0:31], v40, v41, 1.0 cbsz:1 abid:1 blgp:3",
      "buffer_load_dword v1, v[2:3], s[4:7], s8 idxen offen offset:44",
      "buffer_load_dword v2, s[4:7], s8 offen offset:4 lds",
      "global_load_dwordx4 v[4:7], v2, s[4:5] offset:-16",
      "global_atomic_add v1, v[2:3], v4, off",
      "flat_store_short_d16_hi v[2:3], v4 offset:2",
      "ds_read2st64_b64 v[4:7], v2 offset0:3 offset1:255",
      "ds_swizzle_b32 v1, v2 offset:0x8055",
      "s_waitcnt vmcnt(20) lgkmcnt(3)",
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
      "s_mov_b64 s[4:5], 0x12345678",
      "v_cmp_lt_f32_e64 s[4:5], v1, 0.15915494",
      "s_cbranch_scc1 65533"};
  std::vector<Code> codes;
  for (const Code& code : assemble_lines(GetParam(), lines))
    if (!code.empty()) codes.push_back(code);
  EXPECT_GE(codes.size(), lines.size() - 3);
  expect_same(GetParam(), codes);
}

INSTANTIATE_TEST_SUITE_P(Each, Text, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
