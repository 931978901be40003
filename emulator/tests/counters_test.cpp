// The bank model on accesses whose cost is known, and counts of loops.
#include "counters/counters.hpp"

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "counters/bank_model.hpp"
#include "dispatch/launch.hpp"

namespace cdna::test {
namespace {

BankCost cost(Arch arch, int bytes, bool read, int stride_bytes, int xor_rows = 0) {
  uint32_t at[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const int unit = xor_rows ? (l / 32) ^ (l % xor_rows) : l / 32;
    at[l] = xor_rows ? static_cast<uint32_t>(l % 32 * stride_bytes + unit * bytes)
                     : static_cast<uint32_t>(l * stride_bytes);
  }
  return bank_cost(arch, at, kAllLanes, bytes, read);
}

TEST(BankModel, ContiguousAccessesAreFree) {
  for (Arch arch : kArchs)
    for (int bytes : {4, 8, 16})
      for (bool read : {false, true}) {
        const BankCost c = cost(arch, bytes, read, bytes);
        EXPECT_EQ(c.clocks, c.minimum) << generation(arch).name << " " << bytes << " " << read;
      }
  EXPECT_EQ(cost(Arch::gfx942, 4, true, 4).minimum, 2u);
  EXPECT_EQ(cost(Arch::gfx942, 8, true, 8).minimum, 4u);
  EXPECT_EQ(cost(Arch::gfx942, 16, true, 16).minimum, 8u);
  EXPECT_EQ(cost(Arch::gfx950, 16, true, 16).minimum, 4u);
  EXPECT_EQ(cost(Arch::gfx950, 16, false, 16).minimum, 8u);
}

TEST(BankModel, OneWordIsBroadcastAndOneBankIsNot) {
  uint32_t at[kLanes] = {};
  EXPECT_EQ(bank_cost(Arch::gfx942, at, kAllLanes, 4, true).clocks, 2u);
  EXPECT_EQ(cost(Arch::gfx942, 4, true, 128).clocks, 64u);  // 32 words of one bank, twice
  EXPECT_EQ(cost(Arch::gfx942, 4, true, 64).clocks, 32u);   // two banks share them
}

TEST(BankModel, RowsOf256BytesNeedASwizzle) {
  EXPECT_GT(cost(Arch::gfx942, 16, true, 256).clocks, 32u);
  const BankCost swizzled = cost(Arch::gfx942, 16, true, 256, 8);
  EXPECT_EQ(swizzled.clocks, swizzled.minimum);
}

TEST(Counters, TransactionsAreLinesThatAnInstructionTouches) {
  const auto count = [](uint64_t begin, uint64_t stride, int bytes) {
    MemoryCounters m(1);
    const auto w = std::make_unique<Wave>();
    w->pc = 1;
    uint64_t at[kLanes];
    for (uint64_t l = 0; l < kLanes; ++l) at[l] = begin + l * stride;
    m.global(*w, {}, at, kAllLanes, bytes);
    return std::pair(m.use[0].transactions_64, m.use[0].transactions_128);
  };
  EXPECT_EQ(count(0, 4, 4), std::pair(uint64_t{4}, uint64_t{2}));
  EXPECT_EQ(count(0, 16, 16), std::pair(uint64_t{16}, uint64_t{8}));
  EXPECT_EQ(count(32, 4, 4), std::pair(uint64_t{5}, uint64_t{3}));
  EXPECT_EQ(count(0, 256, 4), std::pair(uint64_t{64}, uint64_t{64}));
  EXPECT_EQ(count(60, 0, 8), std::pair(uint64_t{2}, uint64_t{1}));  // one place, across two lines
}

TEST(Counters, LoopsAreFoundAndCounted) {
  const char* text =
      "s_mov_b32 s4, 0\n"
      "v_exp_f32 v2, v0\n"  // the loop: 7 turns
      "v_add_f32 v3, v0, v0\n"
      "v_mov_b32 v2, v0\n"
      "s_nop 2\n"
      "s_mov_b32 s5, 0\n"
      "ds_write_b32 v0, v1\n"  // the inner loop: 3 turns each
      "s_add_u32 s5, s5, 1\n"
      "s_cmp_lt_u32 s5, 3\n"
      "s_cbranch_scc1 65531\n"
      "v_mfma_f32_16x16x16f16 v[8:11], v[4:5], v[6:7], v[8:11]\n"
      "s_add_u32 s4, s4, 1\n"
      "s_cmp_lt_u32 s4, 7\n"
      "s_cbranch_scc1 65521\n"
      "s_barrier\n"
      "s_endpgm\n";
  KernelDescriptor d{};
  d.lds_bytes = 1024;
  d.rsrc1 = 63 | 0xf0 << 12;
  const auto object = CodeObject::of_code(Arch::gfx90a, assemble(Arch::gfx90a, text), d);
  Launch l;
  l.program = decode(object, object->kernels()[0]);
  l.grid.threads = {128, 1, 1};
  l.arguments = kernel_arguments(l.program->kernel, l.grid, nullptr, 0);
  l.settings.count_memory = true;
  MemoryMap memory;
  l.memory = &memory;
  const KernelCounts counts = run(l);
  const Totals all = totals(counts);
  EXPECT_EQ(all.matrix_clocks, 2u * 7 * 32);
  EXPECT_EQ(all.transcendental_clocks, 2u * 7 * 16);
  EXPECT_EQ(all.by_class[static_cast<int>(Class::barrier)], 2u);
  EXPECT_EQ(all.valu, 2u * 7 * 2);
  EXPECT_EQ(all.moves, 2u * 7);
  EXPECT_EQ(all.nop_states, 2u * 7 * 3);
  EXPECT_EQ(all.by_class[static_cast<int>(Class::lds_write)], 2u * 7 * 3);
  const std::vector<LoopCounts> found = loops(counts);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].iterations, 2u * 7);
  EXPECT_EQ(found[0].depth, 1);
  EXPECT_EQ(found[1].iterations, 2u * 7 * 3);
  EXPECT_EQ(found[1].depth, 2);
  EXPECT_EQ(found[1].totals.instructions, 2u * 7 * 3 * 4);
  EXPECT_EQ(found[1].totals.memory.lds_bytes, 2u * 7 * 3 * 64 * 4);
  EXPECT_EQ(found[0].totals.matrix_clocks, all.matrix_clocks);
}

}  // namespace
}  // namespace cdna::test
