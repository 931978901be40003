// Every instruction that the tables know has a row in some test.
#include <gtest/gtest.h>

#include <set>

#include "assembler.hpp"
#include "decode/definition.hpp"
#include "decode/program.hpp"
#include "instructions/tables.hpp"
#include "rows.hpp"
#include "vector_case.hpp"

namespace cdna::test {

std::vector<std::string> all_lines(Arch arch) {
  std::vector<std::string> lines;
  const auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const Case& c : vector_cases()) lines.push_back(c.text);
  add(scalar_lines());
  add(matrix_lines());
  add(memory_lines(arch));
  add(atomic_lines(arch));
  return lines;
}

namespace {

// Tested by name in a test of their own, or without any effect to test.
const std::set<std::string>& elsewhere() {
  static const std::set<std::string> names = {
      // control_test.cpp
      "s_branch",
      "s_cbranch_scc0",
      "s_cbranch_scc1",
      "s_cbranch_vccz",
      "s_cbranch_vccnz",
      "s_cbranch_execz",
      "s_cbranch_execnz",
      "s_set_gpr_idx_on",
      "s_set_gpr_idx_off",
      "s_set_gpr_idx_idx",
      "s_set_gpr_idx_mode",
      "s_load_dword",
      "s_load_dwordx2",
      "s_load_dwordx4",
      "s_load_dwordx8",
      "s_load_dwordx16",
      "s_buffer_load_dword",
      "s_buffer_load_dwordx2",
      "s_buffer_load_dwordx4",
      "s_buffer_load_dwordx8",
      "s_buffer_load_dwordx16",
      "global_load_lds_ubyte",
      "global_load_lds_sbyte",
      "global_load_lds_ushort",
      "global_load_lds_sshort",
      "global_load_lds_dword",
      "global_load_lds_dwordx3",
      "global_load_lds_dwordx4",
      "ds_read_addtid_b32",
      "v_nop",
      "s_setprio",
      "s_sleep",
      "s_sethalt",
      "s_setkill",
      "s_icache_inv",
      "s_dcache_inv",
      "s_dcache_wb",
      "s_dcache_inv_vol",
      "s_dcache_wb_vol",
      "s_incperflevel",
      "s_decperflevel",
      "s_ttracedata",
      "s_sendmsg",
      "ds_nop",
      "s_wakeup",
      "buffer_wbl2",
      "buffer_inv",
      "buffer_wbinvl1",
      "buffer_wbinvl1_vol",
      "buffer_invl2",
      // memory_test.cpp
      "ds_bpermute_b32",
      "ds_permute_b32",
      "ds_swizzle_b32",
      "v_readlane_b32",
      "v_readfirstlane_b32",
      "v_writelane_b32",
      "v_mbcnt_lo_u32_b32",
      "v_mbcnt_hi_u32_b32",
      "v_permlane16_swap_b32",
      "v_permlane32_swap_b32",
      "ds_read_b64_tr_b16",
      "ds_read_b64_tr_b8",
      "ds_read_b64_tr_b4",
      "ds_read_b96_tr_b6",
      // matrix_test.cpp
      "v_mfma_scale_f32_16x16x128_f8f6f4",
      "v_mfma_scale_f32_32x32x64_f8f6f4",
      // kernel_test.cpp: calls, and divisions that are right to the last bit
      "s_getpc_b64",
      "s_setpc_b64",
      "s_swappc_b64",
      "v_div_scale_f32",
      "v_div_fmas_f32",
      "v_div_fixup_f32",
      "v_div_scale_f64",
      "v_div_fmas_f64",
      // checks_test.cpp
      "s_barrier",
      "s_waitcnt",
      "s_endpgm",
      "s_trap",
      // Any value is right.
      "s_memtime",
      "s_memrealtime",
      // Padding: never executed.
      "s_code_end",
  };
  return names;
}

TEST(Coverage, EveryInstructionHasARow) {
  std::set<std::string> tested = elsewhere(), missing;
  for (const Arch arch : kArchs)
    for (const Code& code : assemble_lines(arch, all_lines(arch)))
      for (const PlainInstruction& i : decode_plain(arch, code.data(), code.size()))
        tested.insert(base_mnemonic(i.mnemonic));
  for (const auto part : kInstructionTables)
    for (const Definition& d : part())
      if (!tested.count(d.name)) missing.insert(d.name);
  std::string names;
  for (const std::string& name : missing) names += " " + name;
  EXPECT_EQ(names, "");
}

}  // namespace
}  // namespace cdna::test
