// Branches, register indexing, scalar loads, loads into LDS, and what has no effect that a kernel sees.
#include <numeric>

#include "bench.hpp"

namespace cdna::test {
namespace {

class Control : public testing::TestWithParam<Arch> {
 protected:
  Control() : bench(GetParam()), data(1024) {
    std::iota(data.begin(), data.end(), 0x1000u);
    memory.add(reinterpret_cast<uint64_t>(data.data()), data.size() * 4, "data");
    bench.group.regions = memory.snapshot();
    w().set_pair(4, reinterpret_cast<uint64_t>(data.data()));
  }
  Wave& w() { return bench.wave(); }
  void run(const std::string& text) { bench.run(assemble(GetParam(), text)); }

  Bench bench;
  MemoryMap memory;
  std::vector<uint32_t> data;
};

TEST_P(Control, BranchesAskTheirCondition) {
  struct Row {
    const char* name;
    bool (*taken)(bool scc, bool vcc, bool exec);
  };
  const Row rows[] = {{"s_branch", [](bool, bool, bool) { return true; }},
                      {"s_cbranch_scc0", [](bool scc, bool, bool) { return !scc; }},
                      {"s_cbranch_scc1", [](bool scc, bool, bool) { return scc; }},
                      {"s_cbranch_vccz", [](bool, bool vcc, bool) { return !vcc; }},
                      {"s_cbranch_vccnz", [](bool, bool vcc, bool) { return vcc; }},
                      {"s_cbranch_execz", [](bool, bool, bool exec) { return !exec; }},
                      {"s_cbranch_execnz", [](bool, bool, bool exec) { return exec; }}};
  for (const Row& row : rows) {
    const Code code =
        assemble(GetParam(), std::string("s_mov_b32 s20, 0\n") + row.name + " 1\ns_mov_b32 s20, 1");
    for (int bits = 0; bits < 8; ++bits) {
      const bool scc = bits & 1, vcc = bits & 2, exec = bits & 4;
      w().scc = scc;
      w().set_pair(kVcc, vcc ? 1ull << 63 : 0);
      w().set_pair(kExec, exec ? 1ull << 40 : 0);
      bench.run(code);
      EXPECT_EQ(w().s[20], row.taken(scc, vcc, exec) ? 0u : 1u) << row.name << " " << bits;
    }
  }
}

TEST_P(Control, IndexedRegisters) {
  for (uint32_t r = 10; r < 20; ++r) std::fill_n(w().v[r], kLanes, 100 * r);
  w().s[8] = 3;
  run("s_set_gpr_idx_on s8, gpr_idx(SRC0)\nv_mov_b32 v20, v10\ns_set_gpr_idx_idx s8\ns_set_gpr_idx_mode "
      "gpr_idx(DST)\n"
      "v_mov_b32 v21, v11\ns_set_gpr_idx_off\nv_mov_b32 v22, v12");
  EXPECT_EQ(w().v[20][5], 1300u);
  EXPECT_EQ(w().v[24][5], 1100u);
  EXPECT_EQ(w().v[22][5], 1200u);
}

TEST_P(Control, ScalarLoadsOfEveryWidth) {
  const auto base = reinterpret_cast<uint64_t>(data.data());
  w().set_pair(8, base);
  w().s[10] = 4 * 20;  // records of one byte
  w().s[11] = 0x27000;
  for (const int words : {1, 2, 4, 8, 16}) {
    const std::string width = words == 1 ? "" : "x" + std::to_string(words);
    const std::string to = words == 1 ? "s32" : "s[32:" + std::to_string(31 + words) + "]";
    run("s_load_dword" + width + " " + to + ", s[4:5], 0x20");
    for (int n = 0; n < words; ++n) EXPECT_EQ(w().s[32 + n], data[8 + static_cast<size_t>(n)]) << words;
    run("s_buffer_load_dword" + width + " " + to + ", s[8:11], 0x20");
    for (int n = 0; n < words; ++n)  // beyond 20 words there are zeros
      EXPECT_EQ(w().s[32 + n], n < 12 ? data[8 + static_cast<size_t>(n)] : 0) << words;
  }
}

TEST_P(Control, LoadsIntoLdsOfEveryWidth) {
  struct Row {
    const char* name;
    int bytes;
    uint32_t (*word)(uint32_t);
  };
  const Row rows[] = {
      {"ubyte", 4, [](uint32_t x) { return x & 0xff; }},
      {"sbyte", 4, [](uint32_t x) { return static_cast<uint32_t>(static_cast<int8_t>(x)); }},
      {"ushort", 4, [](uint32_t x) { return x & 0xffff; }},
      {"sshort", 4, [](uint32_t x) { return static_cast<uint32_t>(static_cast<int16_t>(x)); }},
      {"dword", 4, [](uint32_t x) { return x; }},
      {"dwordx3", 12, [](uint32_t x) { return x; }},
      {"dwordx4", 16, [](uint32_t x) { return x; }},
  };
  for (size_t n = 0; n < data.size(); ++n) data[n] = 0x81f0u + 0x01010101u * static_cast<uint32_t>(n);
  const auto base = reinterpret_cast<uint64_t>(data.data());
  w().set_pair(8, base);
  w().s[10] = 4096, w().s[11] = 0x27000;
  for (uint32_t l = 0; l < kLanes; ++l) w().v[1][l] = 16 * (63 - l);
  for (const Row& row : rows)
    for (const bool buffer : {false, true}) {
      if (row.bytes > 4 && GetParam() != Arch::gfx950) continue;
      if (!buffer && GetParam() == Arch::gfx90a) continue;
      std::fill(bench.group.lds.begin(), bench.group.lds.end(), 0xcc);
      const std::string name = buffer ? std::string("buffer_load_") + row.name + " v1, s[8:11], 0 offen lds"
                                      : std::string("global_load_lds_") + row.name + " v1, s[4:5]";
      run("s_mov_b32 m0, 0x100\ns_nop 0\n" + name);
      for (uint32_t l = 0; l < kLanes; ++l)
        for (uint32_t k = 0; k < static_cast<uint32_t>(row.bytes) / 4; ++k) {
          uint32_t got;
          std::memcpy(&got, bench.group.lds.data() + 0x100 + l * (row.bytes > 4 ? 16 : 4) + 4 * k, 4);
          EXPECT_EQ(got, row.word(data[4 * (63 - l) + k])) << name << " lane " << l;
        }
    }
}

TEST_P(Control, LdsByThread) {
  for (size_t n = 0; n < 128; ++n) std::memcpy(bench.group.lds.data() + 4 * n, &data[n], 4);
  run("s_mov_b32 m0, 64\ns_nop 0\nds_read_addtid_b32 v3 offset:8");
  for (uint32_t l = 0; l < kLanes; ++l) EXPECT_EQ(w().v[3][l], data[18 + l]);
}

// Priorities, caches, messages: nothing that registers or memory show.
TEST_P(Control, WhatHasNoEffect) {
  std::string text =
      "s_nop 3\nv_nop\ns_setprio 2\ns_sleep 1\ns_sethalt 0\ns_setkill "
      "0\ns_icache_inv\ns_dcache_inv\ns_dcache_wb\n"
      "s_incperflevel 1\ns_decperflevel 1\ns_ttracedata\ns_sendmsg 0\nds_nop\ns_wakeup\n";
  text += GetParam() == Arch::gfx90a ? "buffer_wbl2\nbuffer_invl2\nbuffer_wbinvl1_vol\nbuffer_wbinvl1\ns_"
                                       "dcache_inv_vol\ns_dcache_wb_vol\n"
                                     : "buffer_wbl2 sc0\nbuffer_inv sc0\n";
  std::vector<uint32_t> scalars(w().s, w().s + kScalars);
  run(text);
  EXPECT_TRUE(std::equal(scalars.begin(), scalars.end(), w().s));
  EXPECT_EQ(w().state, State::running);
}

INSTANTIATE_TEST_SUITE_P(Each, Control, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
