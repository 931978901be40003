// The processor's tile instructions against their twin, bit for bit. Where the processor has none, each of
// them raises SIGILL, and what it would have done is done by a handler that reads the instruction as the
// manual spells it: so what is tested here is that the right instructions are there, on the right operands.
#define FLASHWAVE_TARGET traps_test
#define FLASHWAVE_SIMD_WIDE
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "cpu/amx.hpp"
#include "cpu/backend.hpp"
#include "cpu/kernels/operand.hpp"
#include "cpu/run.hpp"
#include "support.hpp"

namespace fw::traps_test {
namespace {

// What an instruction says: VEX with three bytes, opcode map 0F38, then a register or memory operand.
struct Instruction {
  int prefix, opcode, reg, rm, vvvv;  // prefix: 0 = none, 2 = F3, 3 = F2
  bool memory;
  std::uint64_t base;  // address
  i64 stride;          // from the index register
  int length;
};

std::uint64_t value_of(const ucontext_t& context, int number) {
  constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[order[number]]);
}

Instruction decode(const ucontext_t& context) {
  const auto* const code = reinterpret_cast<const unsigned char*>(context.uc_mcontext.gregs[REG_RIP]);
  Instruction i{};
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2) abort();  // no instruction on tiles
  const int x = (code[1] & 0x40) ? 0 : 8, b = (code[1] & 0x20) ? 0 : 8;
  i.prefix = code[2] & 3;
  i.vvvv = (~code[2] >> 3) & 15;
  i.opcode = code[3];
  const int mode = code[4] >> 6;
  i.reg = (code[4] >> 3) & 7;
  i.rm = code[4] & 7;
  i.memory = mode != 3;
  i.length = 5;
  if (!i.memory) return i;
  bool relative = mode == 0 && i.rm == 5;
  if (i.rm == 4) {
    const int sib = code[i.length++], index = ((sib >> 3) & 7) + x, base = sib & 7;
    if (index != 4) i.stride = static_cast<i64>(value_of(context, index)) << (sib >> 6);
    if (mode == 0 && base == 5) abort();  // an absolute address: the compiler has no reason
    i.base = value_of(context, base + b);
  } else if (!relative) {
    i.base = value_of(context, i.rm + b);
  }
  std::int32_t displacement = 0;
  if (mode == 1) displacement = static_cast<signed char>(code[i.length++]);
  if (mode == 2 || relative) {
    std::memcpy(&displacement, code + i.length, 4);
    i.length += 4;
  }
  if (relative) i.base = reinterpret_cast<std::uint64_t>(code) + static_cast<std::uint64_t>(i.length);
  i.base += static_cast<std::uint64_t>(std::int64_t{displacement});
  return i;
}

int trapped = 0;

void perform(const Instruction& i) {
  const auto at = [&](int row) { return reinterpret_cast<char*>(i.base) + row * i.stride; };
  if (i.opcode == 0x49 && i.prefix == 0 && i.memory) {  // ldtilecfg
    unsigned char wanted[64] = {1};
    for (int t = 0; t < 8; ++t) wanted[16 + 2 * t] = 64, wanted[48 + t] = 16;
    if (std::memcmp(at(0), wanted, sizeof wanted) != 0) abort();
    EmulatedTiles::configure();
  } else if (i.opcode == 0x49 && i.prefix == 0) {  // tilerelease
    EmulatedTiles::release();
  } else if (i.opcode == 0x49 && i.prefix == 3) {  // tilezero
    std::memset(&EmulatedTiles::tile(i.reg), 0, sizeof(EmulatedTiles::Tile));
  } else if (i.opcode == 0x4b && i.prefix == 3) {  // tileloadd
    for (int r = 0; r < tile_side; ++r) std::memcpy(EmulatedTiles::tile(i.reg)[r], at(r), 64);
  } else if (i.opcode == 0x4b && i.prefix == 2) {  // tilestored
    for (int r = 0; r < tile_side; ++r) std::memcpy(at(r), EmulatedTiles::tile(i.reg)[r], 64);
  } else if (i.opcode == 0x5c && i.prefix == 2) {  // tdpbf16ps
    EmulatedTiles::multiply_add(EmulatedTiles::tile(i.reg), EmulatedTiles::tile(i.rm),
                                EmulatedTiles::tile(i.vvvv));
  } else {
    abort();
  }
}

void trap(int, siginfo_t*, void* where) {
  ucontext_t& context = *static_cast<ucontext_t*>(where);
  const Instruction instruction = decode(context);
  perform(instruction);
  context.uc_mcontext.gregs[REG_RIP] += instruction.length;
  ++trapped;
}

class TileTraps : public testing::Test {
 protected:
  TileTraps() {
    native_ = cpu::amx_missing(cpu::amx_here()).empty();
    struct sigaction action = {};
    action.sa_sigaction = trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &before_);
    trapped = 0;
  }
  ~TileTraps() override { sigaction(SIGILL, &before_, nullptr); }
  bool native_;

 private:
  struct sigaction before_ = {};
};

TEST_F(TileTraps, ConfigurationAndReleaseAreThere) {
  {
    TilesInUse<HardwareTiles> tiles;
    EXPECT_EQ(EmulatedTiles::state.configured, !native_);
  }
  EXPECT_FALSE(EmulatedTiles::state.configured);
  EXPECT_EQ(trapped, native_ ? 0 : 2);
}

std::vector<u32> random_pairs(std::size_t count, std::mt19937& random) {
  std::vector<u32> pairs(count);
  for (u32& pair : pairs) pair = (random() & 0xbfffbfff) | 0x30003000;  // ordinary numbers
  return pairs;
}

template <class Tiles, int N, Before before, class Left>
std::vector<float> multiplied(int count, int depth, Left left, const std::vector<u32>& right,
                              const std::vector<float>& fade) {
  constexpr int W = N * lanes;
  std::vector<float> out(static_cast<std::size_t>(count * W));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 7);
  TilesInUse<Tiles> tiles;
  product<TileProduct<Tiles>, N, before>(out.data(), W, count, left, right.data(), W, depth, fade.data());
  return out;
}

template <int N, Before before>
void expect_same_bits(std::mt19937& random) {
  for (const int count : {5, 16, 40, 64, 80, 96})
    for (const int depth : {3, 16, 41}) {
      const auto left = random_pairs(static_cast<std::size_t>(96 * 48), random);
      const auto right = random_pairs(static_cast<std::size_t>(depth * N * lanes), random);
      const std::vector<float> fade(N * lanes, 0.75f);
      const u32* rows[96];
      for (int r = 0; r < 96; ++r) rows[r] = left.data() + r * 48;
      const auto same = [&](auto side) {
        const auto there = multiplied<HardwareTiles, N, before>(count, depth, side, right, fade);
        const auto here = multiplied<EmulatedTiles, N, before>(count, depth, side, right, fade);
        EXPECT_EQ(std::memcmp(there.data(), here.data(), there.size() * sizeof(float)), 0)
            << count << " x " << depth << ", " << N << " vectors";
      };
      same(AlongRows<u32>{rows});
      same(AcrossRows<u32>{rows});
    }
}

TEST_F(TileTraps, ProductsHaveTheBitsOfTheTwin) {
  std::mt19937 random(1);
  expect_same_bits<1, Before::nothing>(random);
  expect_same_bits<1, Before::sum>(random);
  expect_same_bits<4, Before::nothing>(random);
  expect_same_bits<4, Before::sum>(random);
  expect_same_bits<4, Before::fading>(random);
  EXPECT_EQ(trapped > 0, !native_);
}

using test::Sample;

Sample sample() {
  Sample s({.batch = 1,
            .heads_q = 4,
            .heads_k = 2,
            .seq_q = 70,
            .seq_k = 101,
            .dim_qk = 72,
            .dim_v = 41,
            .dtype = DType::bf16});
  s.problem.right = s.call.right = 0;
  return s;
}

void expect_near(Sample& got, Sample& wanted, View Call::* tensor) {
  const auto a = got[tensor].values(), b = wanted[tensor].values();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 0.02 * (1 + std::abs(b[i]))) << i;
}

// The kernels of amx themselves, on processors that lack nothing of what they need but tiles. They run on
// this thread (0 seconds are too short for others): workers have signals blocked.
TEST_F(TileTraps, KernelsComputeWhatTheOracleDoes) {
  if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vl"))
    GTEST_SKIP() << "this processor lacks AVX-512 BF16";
  const auto backend = cpu::make_cpu_backend();
  const auto plan_of = [&](const Sample& s, const char* device) {
    Plan plan;
    EXPECT_TRUE(backend->plan(s.problem, device, plan).ok());
    return plan;
  };
  Sample got = sample(), wanted = sample();
  ASSERT_TRUE(backend->run(plan_of(wanted, "reference"), wanted.call).ok());
  ASSERT_TRUE(cpu::run_forward(*cpu::isa_amx.bf16, plan_of(got, "cpu"), got.call, 0).ok());
  expect_near(got, wanted, &Call::out);
  expect_near(got, wanted, &Call::lse);
  for (Sample* s : {&got, &wanted}) s->make_backward();
  ASSERT_TRUE(backend->run(plan_of(wanted, "reference"), wanted.call).ok());
  ASSERT_TRUE(cpu::run_backward(*cpu::isa_amx.bf16, plan_of(got, "cpu"), got.call, 0).ok());
  for (const auto gradient : {&Call::dq, &Call::dk, &Call::dv}) expect_near(got, wanted, gradient);
  EXPECT_EQ(trapped > 0, !native_);
}

}  // namespace
}  // namespace fw::traps_test
