// What the emulator must catch: kernels that are wrong in ways hardware hides.
#include "faults.hpp"

namespace cdna::test {
namespace {

TEST_F(Faults, AccessOutsideEveryAllocation) {
  const std::string m =
      fault(Arch::gfx942, "v_mov_b32 v2, 0xffc\nv_add_u32 v2, v2, v1\nglobal_load_dword v3, v2, s[4:5]");
  expect(m, "kernel code, instruction 'global_load_dword v3, v2, s[4:5]' at 0x");
  expect(m, "wave 0 of workgroup (0,0,0): lane 1 accesses 4 bytes at 0x");
  expect(m, "0 bytes behind the end of test data");
  EXPECT_EQ(fault(Arch::gfx942, "global_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(0)"), "");
}

TEST_F(Faults, BuffersClampInsteadOfFaulting) {
  const std::string buffer =
      "s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_mov_b32 s10, 128\ns_mov_b32 s11, 0x27000\n"
      "buffer_load_dword v3, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v3, s[4:5] "
      "offset:512";
  EXPECT_EQ(fault(Arch::gfx942, buffer), "");
  EXPECT_EQ(data[128 + 31], 7u);
  EXPECT_EQ(data[128 + 32], 0u);  // beyond 128 bytes
}

TEST_F(Faults, LdsBounds) {
  const std::string m = fault(Arch::gfx90a, "ds_write_b32 v1, v0 offset:4", {.lds = 256});
  expect(m, "lane 63 accesses 4 bytes of LDS at 0x100, the workgroup has 256");
  EXPECT_EQ(fault(Arch::gfx90a, "ds_write_b32 v1, v0", {.lds = 256}), "");
}

TEST_F(Faults, ResultsUsedBeforeTheirWait) {
  expect(fault(Arch::gfx942, "global_load_dword v3, v1, s[4:5]\nv_add_u32 v4, v3, v0"),
         "reads v3 (of the register file), which 'global_load_dword v3, v1, s[4:5]'");
  expect(fault(Arch::gfx942,
               "global_load_dword v3, v1, s[4:5]\nglobal_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(1)\n"
               "v_add_u32 v5, v3, v4"),
         "reads v4");
  expect(fault(Arch::gfx942, "ds_read_b32 v3, v1\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v3", {.lds = 256}),
         "reads v3");
  expect(fault(Arch::gfx942, "s_load_dword s8, s[4:5], 0x0\ns_add_u32 s9, s8, s8"), "reads s8");
  expect(fault(Arch::gfx942,
               "s_load_dword s8, s[4:5], 0x0\ns_load_dword s9, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\n"
               "s_mov_b32 s10, s8"),
         "reads s8");  // scalar loads return in any order
  expect(fault(Arch::gfx942, "global_load_dword v3, v1, s[4:5]\nv_mov_b32 v3, 0"), "overwrites v3");
}

TEST_F(Faults, LdsReadBeforeALoadIntoItHasArrived) {
  const std::string load = "s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v1, s[4:5]\n";
  expect(fault(Arch::gfx942, load + "ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)", {.lds = 256}),
         "reads LDS at 0x0");
  EXPECT_EQ(fault(Arch::gfx942, load + "s_waitcnt vmcnt(0)\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)",
                  {.lds = 256}),
            "");
}

// Each wave of 64 writes its part of LDS and reads its neighbour's.
TEST_F(Faults, RacesInLds) {
  const std::string address = "v_xor_b32 v2, 0x100, v1\n", wait = "s_waitcnt lgkmcnt(0)\n",
                    read = "ds_read_b32 v3, v2\n";
  const std::string write = "ds_write_b32 v1, v0\n",
                    load = "s_mov_b32 m0, s12\ns_nop 0\nglobal_load_lds_dword v1, s[4:5]\n";
  // s12: where this wave's part begins, s13: where its neighbour's does.
  const std::string begin =
      address + "v_readfirstlane_b32 s8, v1\ns_nop 4\ns_and_b32 s12, s8, 0x100\ns_xor_b32 s13, s12, 0x100\n";
  const Situation two{.threads = 128, .lds = 512};
  const auto run = [&](const std::string& text) { return fault(Arch::gfx942, begin + text, two); };
  EXPECT_EQ(run(write + wait + "s_barrier\n" + read + wait), "");
  expect(
      run(write + wait + read + wait),
      "LDS at 0x100, which wave 0 read since the last barrier, by 'ds_read_b32 v3, v2' at 0x");  // no barrier
  expect(run(write + "s_barrier\n" + read + wait), "wrote since the last barrier");  // no wait before it
  expect(run(read + wait + write + wait),
         "LDS at 0x0, which wave 0 wrote since the last barrier, by 'ds_write_b32 v1, v0' at 0x");
  EXPECT_EQ(run(read + wait + "s_barrier\n" + write + wait), "");
  expect(run(read + "s_barrier\n" + write + wait),
         "read since the last barrier");  // still reading behind the barrier

  // The next tile is loaded where others still read this one: one phase too early.
  const std::string filled = load + "s_waitcnt vmcnt(0)\ns_barrier\n";
  EXPECT_EQ(run(filled + read + wait + "s_barrier\n" + load + "s_waitcnt vmcnt(0)"), "");
  expect(run(filled + read + wait + load + "s_waitcnt vmcnt(0)"), "since the last barrier");
  expect(run(load + "s_waitcnt vmcnt(0)\n" + read + wait),
         "since the last barrier");  // arrived, but for its own wave
  expect(run(load + "s_barrier\n" + read + wait), "has not finished loading");

  // Halves of a word by two waves, and atomics, are no races; an atomic and a read are.
  EXPECT_EQ(run("v_and_b32 v4, 63, v0\nv_lshlrev_b32 v4, 2, v4\nv_lshrrev_b32 v6, 6, v0\nv_lshl_add_u32 v4, "
                "v6, 1, v4\n"
                "ds_write_b16 v4, v0"),
            "");
  EXPECT_EQ(run("v_mov_b32 v4, 0\nds_add_u32 v4, v0"), "");
  expect(run("v_mov_b32 v4, 0\nds_add_u32 v4, v0\n" + wait + "ds_read_b32 v3, v4\n" + wait),
         "since the last barrier");
}

TEST_F(Faults, RacesAreALevelOfTheirOwn) {
  const std::string text =
      "v_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v2\n"
      "s_waitcnt lgkmcnt(0)";
  EXPECT_EQ(fault(Arch::gfx90a, text, {.threads = 128, .lds = 512, .checks = Checks::waits}), "");
  expect(fault(Arch::gfx90a, text, {.threads = 128, .lds = 512, .checks = Checks::races}), "is missing");
}

// What no check sees while it runs shows in the bits: here the same planted faults without any checks.
TEST_F(Faults, OrdersGiveEqualBitsUnlessSomethingIsMissing) {
  const std::string begin = "v_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0\n";
  const std::string end = "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[4:5]\n";
  const Situation compare{.threads = 128, .lds = 512, .checks = Checks::none, .compare = true};
  const auto run = [&](const std::string& between) {
    return fault(Arch::gfx942, begin + between + end, compare);
  };
  EXPECT_EQ(run("s_waitcnt lgkmcnt(0)\ns_barrier\n"), "");
  expect(run("s_waitcnt lgkmcnt(0)\n"), "kernel code depends on the order of events: with schedule ");
  expect(run("s_barrier\n"), "of test data");
  expect(fault(Arch::gfx942,
               "global_load_dword v3, v1, s[4:5]\nv_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[4:5]",
               compare),
         "async late");
}

TEST_F(Faults, LateResultsArriveAtTheWait) {
  const std::string text =
      "v_mov_b32 v3, 0\nglobal_load_dword v3, v1, s[4:5]\nv_mov_b32 v4, v3\ns_waitcnt vmcnt(0)\n"
      "global_store_dword v1, v4, s[4:5] offset:1024\nglobal_store_dword v1, v3, s[4:5] offset:2048";
  EXPECT_EQ(fault(Arch::gfx942, text, {.late = true, .checks = Checks::none}), "");
  EXPECT_EQ(data[256], kPoison);
  EXPECT_EQ(data[512], 7u);
}

TEST_F(Faults, RegistersAndLdsArePoisoned) {
  EXPECT_EQ(fault(Arch::gfx942,
                  "ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[4:5]\n"
                  "global_store_dword v1, v77, s[4:5] offset:256",
                  {.lds = 256}),
            "");
  EXPECT_EQ(data[0], kPoison);
  EXPECT_EQ(data[64], kPoison);
}

TEST_F(Faults, BarrierMismatch) {
  const std::string text =
      "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 1\ns_barrier\ns_nop 0";
  expect(fault(Arch::gfx942, text, {.threads = 128}),
         "barrier mismatch: the wave waits at its barrier number 1, but wave 0 has ended after 0 barriers");
  EXPECT_EQ(fault(Arch::gfx942, text, {.threads = 128, .checks = Checks::none}),
            "");  // hardware lets it pass
}

TEST_F(Faults, TrapsAndJumpsOutOfTheCode) {
  expect(fault(Arch::gfx942, "s_trap 2"), "trap");
  expect(fault(Arch::gfx942, "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 0x1000\ns_setpc_b64 s[8:9]"),
         "where no code is");
}

TEST_F(Faults, EndlessLoopsEnd) {
  expect(fault(Arch::gfx942, "s_branch 65535", {.limit = 1000}), "seems to hang");
}

}  // namespace
}  // namespace cdna::test
