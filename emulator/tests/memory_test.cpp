// Loads, stores, atomics, LDS and lane exchange, against what each lane should see.
#include <numeric>

#include "bench.hpp"

namespace cdna::test {
namespace {

class Memory : public testing::TestWithParam<Arch> {
 protected:
  Memory() : bench(GetParam()) {
    for (size_t n = 0; n < data.size(); ++n) data[n] = static_cast<uint8_t>(n * 37 + n / 256 * 11);
    memory.add(reinterpret_cast<uint64_t>(data.data()), data.size(), "data");
    bench.group.regions = memory.snapshot();
    w().set_pair(4, reinterpret_cast<uint64_t>(data.data()));
  }
  Wave& w() { return bench.wave(); }
  void run(const std::string& text) { bench.run(assemble(GetParam(), text)); }
  uint32_t word(size_t at, int bytes = 4) const {
    uint32_t x = 0;
    std::memcpy(&x, data.data() + at, static_cast<size_t>(bytes));
    return x;
  }

  Bench bench;
  MemoryMap memory;
  std::vector<uint8_t> data = std::vector<uint8_t>(16384);
};

TEST_P(Memory, LoadsOfEveryWidth) {
  for (uint32_t l = 0; l < kLanes; ++l) w().v[1][l] = l * 20;
  run("global_load_ubyte v10, v1, s[4:5] offset:3\nglobal_load_sbyte v11, v1, s[4:5] offset:3\n"
      "global_load_ushort v12, v1, s[4:5]\nglobal_load_sshort v13, v1, s[4:5]\n"
      "global_load_dwordx4 v[14:17], v1, s[4:5]\nglobal_load_short_d16_hi v18, v1, s[4:5]\n"
      "global_load_dwordx3 v[20:22], v1, s[4:5] offset:-0");
  for (uint32_t l = 0; l < kLanes; ++l) {
    const size_t at = l * 20;
    EXPECT_EQ(w().v[10][l], word(at + 3, 1));
    EXPECT_EQ(w().v[11][l], static_cast<uint32_t>(static_cast<int8_t>(word(at + 3, 1))));
    EXPECT_EQ(w().v[12][l], word(at, 2));
    EXPECT_EQ(w().v[13][l], static_cast<uint32_t>(static_cast<int16_t>(word(at, 2))));
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(w().v[14 + k][l], word(at + 4 * k));
    EXPECT_EQ(w().v[18][l], word(at, 2) << 16);
    EXPECT_EQ(w().v[22][l], word(at + 8));
  }
}

TEST_P(Memory, StoresTouchOnlyTheirLanes) {
  const std::vector<uint8_t> before = data;
  for (uint32_t l = 0; l < kLanes; ++l) w().v[1][l] = l * 16, w().v[2][l] = 0xa0b0c000 + l, w().v[3][l] = l;
  w().set_pair(kExec, 0x8000000000000005ull);
  run("global_store_short_d16_hi v1, v2, s[4:5]\nglobal_store_dwordx2 v1, v[2:3], s[4:5] offset:4\n"
      "global_store_byte v1, v3, s[4:5] offset:15");
  for (uint32_t l = 0; l < kLanes; ++l) {
    std::vector<uint8_t> want(before.begin() + l * 16, before.begin() + l * 16 + 16);
    if (w().exec() >> l & 1) {
      const uint32_t words[] = {0xa0b0c000 + l, l};
      want[0] = 0xb0, want[1] = 0xa0;
      std::memcpy(&want[4], words, 8);
      want[15] = static_cast<uint8_t>(l);
    }
    EXPECT_TRUE(std::equal(want.begin(), want.end(), data.begin() + l * 16)) << l;
  }
}

TEST_P(Memory, AtomicsAddUp) {
  std::memset(data.data(), 0, 64);
  for (uint32_t l = 0; l < kLanes; ++l) {
    w().v[1][l] = 4 * (l % 4), w().v[2][l] = l;
    w().v[3][l] = std::bit_cast<uint32_t>(static_cast<float>(l));
  }
  const char* returning = GetParam() == Arch::gfx90a ? " glc" : " sc0";
  run(std::string("global_atomic_add v10, v1, v2, s[4:5]") + returning +
      "\nglobal_atomic_umax v1, v2, s[4:5] offset:16\nglobal_atomic_add_f32 v1, v3, s[4:5] offset:32");
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t sum = 0;
    for (uint32_t l = k; l < kLanes; l += 4) {
      EXPECT_EQ(w().v[10][l], sum);  // lanes in order
      sum += l;
    }
    EXPECT_EQ(word(4 * k), sum);
    EXPECT_EQ(word(16 + 4 * k), 60 + k);
    EXPECT_EQ(std::bit_cast<float>(word(32 + 4 * k)), static_cast<float>(sum));
  }
}

TEST_P(Memory, BuffersByIndexAndOffset) {
  const auto base = reinterpret_cast<uint64_t>(data.data());
  w().s[8] = static_cast<uint32_t>(base);
  w().s[9] = static_cast<uint32_t>(base >> 32) | 20u << 16;  // records of 20 bytes
  w().s[10] = 50;                                            // of them
  w().s[11] = 0x27000;
  w().s[12] = 40;
  for (uint32_t l = 0; l < kLanes; ++l) w().v[2][l] = l, w().v[3][l] = 4 * (l % 3);
  run("buffer_load_dword v10, v[2:3], s[8:11], s12 idxen offen offset:4");
  for (uint32_t l = 0; l < kLanes; ++l)
    EXPECT_EQ(w().v[10][l], l < 50 ? word(20 * l + 4 * (l % 3) + 44) : 0) << l;
}

TEST_P(Memory, LdsReadsAndWrites) {
  for (uint32_t l = 0; l < kLanes; ++l)
    w().v[1][l] = 16 * l, w().v[2][l] = 0x1000 + l, w().v[3][l] = 0x2000 + l, w().v[4][l] = 8 * (63 - l);
  run("ds_write2_b32 v1, v2, v3 offset0:1 offset1:2\nds_write_b16_d16_hi v1, v2\nds_read_b128 v[10:13], v1\n"
      "ds_read2_b64 v[14:17], v4 offset0:0 offset1:1\nds_read_u8 v18, v1 offset:5\nds_read_i16 v19, v1 "
      "offset:8");
  for (uint32_t l = 0; l < kLanes; ++l) {
    EXPECT_EQ(w().v[11][l], 0x1000 + l);
    EXPECT_EQ(w().v[12][l], 0x2000 + l);
    EXPECT_EQ(w().v[18][l], 0x10u);
    EXPECT_EQ(w().v[19][l], 0x2000 + l);
    const uint32_t at = 8 * (63 - l);
    EXPECT_EQ(w().v[15][l], at % 16 == 0 ? 0x1000 + at / 16 : 0u) << l;
  }
}

TEST_P(Memory, LanesExchange) {
  for (uint32_t l = 0; l < kLanes; ++l)
    w().v[1][l] = 4 * (l ^ 32), w().v[2][l] = 100 + l, w().v[3][l] = 4 * (l * 5 % 64);
  w().set_pair(kExec, ~1ull);
  run("ds_bpermute_b32 v10, v1, v2\nds_permute_b32 v11, v3, v2\nds_swizzle_b32 v12, v2 offset:0x041f\n"
      "v_readlane_b32 s8, v2, 5\nv_readfirstlane_b32 s9, v2\nv_writelane_b32 v13, s8, 7\n"
      "v_mbcnt_lo_u32_b32 v14, -1, 0\nv_mbcnt_hi_u32_b32 v14, -1, v14");
  for (uint32_t l = 1; l < kLanes; ++l) {
    EXPECT_EQ(w().v[10][l], l == 32 ? 0 : 100 + (l ^ 32)) << l;  // lane 0 is off
    EXPECT_EQ(w().v[12][l], l == 1 ? 0 : 100 + (l ^ 1));
    EXPECT_EQ(w().v[14][l], l);
    EXPECT_EQ(w().v[11][l * 5 % 64], 100 + l);
  }
  EXPECT_EQ(w().s[8], 105u);
  EXPECT_EQ(w().s[9], 101u);
  EXPECT_EQ(w().v[13][7], 105u);
}

TEST_P(Memory, DppMovesLanes) {
  for (uint32_t l = 0; l < kLanes; ++l) w().v[1][l] = l, w().v[2][l] = 1000, w().v[3][l] = 2000;
  run("v_mov_b32_dpp v2, v1 row_shr:3 row_mask:0xf bank_mask:0xf\ns_nop 1\n"
      "v_mov_b32_dpp v3, v1 row_bcast:15 row_mask:0xa bank_mask:0xf\ns_nop 1\n"
      "v_mov_b32_dpp v4, v1 quad_perm:[3,0,1,2] row_mask:0xf bank_mask:0xf\n"
      "v_mov_b32_dpp v5, v1 row_half_mirror row_mask:0xf bank_mask:0xf\n"
      "v_mov_b32_dpp v6, v1 wave_rol:1 row_mask:0xf bank_mask:0xf\n"
      "v_add_u32_dpp v7, v1, v1 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0");
  for (uint32_t l = 0; l < kLanes; ++l) {
    EXPECT_EQ(w().v[2][l], l % 16 >= 3 ? l - 3 : 1000) << l;
    EXPECT_EQ(w().v[3][l], l / 16 % 2 ? l / 16 * 16 - 1 : 2000) << l;
    EXPECT_EQ(w().v[4][l], l / 4 * 4 + (l + 3) % 4);
    EXPECT_EQ(w().v[5][l], l / 8 * 8 + 7 - l % 8);
    EXPECT_EQ(w().v[6][l], (l + 1) % 64);
    EXPECT_EQ(w().v[7][l], l % 16 < 15 ? 2 * l + 1 : l);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Memory, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

// In 16 lanes: element e of lane j is element j % n of what lane (16 / n) e + j / n reads, n being those a
// lane has.
TEST(Gfx950, TransposedReads) {
  struct Row {
    const char* text;
    uint32_t bits, bytes;
  };
  for (const Row& row :
       {Row{"ds_read_b64_tr_b16 v[10:11], v1", 16, 8}, Row{"ds_read_b64_tr_b8 v[10:11], v1", 8, 8},
        Row{"ds_read_b64_tr_b4 v[10:11], v1", 4, 8}, Row{"ds_read_b96_tr_b6 v[10:12], v1", 6, 12}}) {
    Bench bench(Arch::gfx950);
    Wave& w = bench.wave();
    for (size_t n = 0; n < 2048; ++n) bench.group.lds[n] = static_cast<uint8_t>(n * 73 + n / 7 * 31);
    for (uint32_t l = 0; l < kLanes; ++l) w.v[1][l] = 16 * l;
    bench.run(assemble(Arch::gfx950, row.text));
    const auto bit_of_lds = [&](uint32_t lane, uint32_t n) {
      return bench.group.lds[16 * lane + n / 8] >> (n % 8) & 1;
    };
    const uint32_t count = 8 * row.bytes / row.bits;
    for (uint32_t l = 0; l < kLanes; ++l)
      for (uint32_t e = 0; e < count; ++e)
        for (uint32_t b = 0; b < row.bits; ++b) {
          const uint32_t j = l % 16, from = l / 16 * 16 + 16 / count * e + j / count, at = e * row.bits + b;
          ASSERT_EQ(static_cast<int>(w.v[10 + at / 32][l] >> (at % 32) & 1),
                    bit_of_lds(from, j % count * row.bits + b))
              << row.text << " lane " << l << " element " << e;
        }
  }
}

TEST(Gfx950, PermlaneSwaps) {
  Bench bench(Arch::gfx950);
  Wave& w = bench.wave();
  for (uint32_t l = 0; l < kLanes; ++l) w.v[1][l] = w.v[3][l] = l, w.v[2][l] = w.v[4][l] = 100 + l;
  bench.run(assemble(Arch::gfx950, "v_permlane32_swap_b32 v1, v2\nv_permlane16_swap_b32 v3, v4"));
  for (uint32_t l = 0; l < kLanes; ++l) {
    EXPECT_EQ(w.v[1][l], l < 32 ? l : 100 + l - 32);
    EXPECT_EQ(w.v[2][l], l < 32 ? l + 32 : 100 + l);
    EXPECT_EQ(w.v[3][l], l / 16 % 2 ? 100 + l - 16 : l);
    EXPECT_EQ(w.v[4][l], l / 16 % 2 ? 100 + l : l + 16);
  }
}

}  // namespace
}  // namespace cdna::test
