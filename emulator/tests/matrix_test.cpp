// Matrix instructions: layouts from the manual's formulas with exact numbers, and the exact mode's roundings.
#include <cmath>
#include <vector>

#include "base/floats.hpp"
#include "bench.hpp"
#include "mfma/exact.hpp"
#include "rows.hpp"

namespace cdna::test {
namespace {

enum class In { f32, xf32, f16, bf16, fp8, bf8, fp6, bf6, fp4, i8, f64 };

int bits_of(In t) {
  switch (t) {
    case In::f64: return 64;
    case In::f32:
    case In::xf32: return 32;
    case In::f16:
    case In::bf16: return 16;
    case In::fp6:
    case In::bf6: return 6;
    case In::fp4: return 4;
    default: return 8;
  }
}

// Small whole numbers that every format holds, as bits.
uint64_t encode(In t, int x, Arch arch) {
  const bool fnuz = arch == Arch::gfx942;
  switch (t) {
    case In::f64: return as_bits(static_cast<double>(x));
    case In::f32:
    case In::xf32: return as_bits(static_cast<float>(x));
    case In::f16: return to_half(static_cast<float>(x));
    case In::bf16: return to_brain(static_cast<float>(x));
    case In::i8: return static_cast<uint8_t>(x);
    default: break;
  }
  // Sign, then the exponent and fraction of 1, 2, 3, 4.
  const int size = std::abs(x);
  const auto build = [&](int exponent_bits, int fraction_bits, int bias) -> uint64_t {
    const int sign = x < 0 ? 1 << (exponent_bits + fraction_bits) : 0;
    if (!size) return 0;
    const int e = size >= 4 ? 2 : size >= 2 ? 1 : 0;
    const int fraction = (size << fraction_bits >> e) - (1 << fraction_bits);
    return static_cast<uint64_t>(sign | (e + bias) << fraction_bits | fraction);
  };
  switch (t) {
    case In::fp8: return build(4, 3, fnuz ? 8 : 7);
    case In::bf8: return build(5, 2, fnuz ? 16 : 15);
    case In::fp6: return build(2, 3, 1);
    case In::bf6: return build(3, 2, 3);
    default: return build(2, 1, 1);
  }
}

struct Shape {
  const char* text;  // the mnemonic and its modifiers
  int m, k, b;
  In a, bb;
};

// A from v20, B from v40, C from v60, D from v100: so many registers of each.
std::string with_registers(const std::string& mnemonic, int a, int b, int c, const std::string& rest) {
  const auto range = [](int first, int n) {
    return n == 1 ? "v" + std::to_string(first)
                  : "v[" + std::to_string(first) + ":" + std::to_string(first + n - 1) + "]";
  };
  return mnemonic + " " + range(100, c) + ", " + range(20, a) + ", " + range(40, b) + ", " + range(60, c) +
         rest;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"v_mfma_f32_32x32x1f32", 32, 1, 2, In::f32, In::f32},
      {"v_mfma_f32_16x16x1f32", 16, 1, 4, In::f32, In::f32},
      {"v_mfma_f32_4x4x1f32", 4, 1, 16, In::f32, In::f32},
      {"v_mfma_f32_32x32x2f32", 32, 2, 1, In::f32, In::f32},
      {"v_mfma_f32_16x16x4f32", 16, 4, 1, In::f32, In::f32},
      {"v_mfma_f32_32x32x4_xf32", 32, 4, 1, In::xf32, In::xf32},
      {"v_mfma_f32_16x16x8_xf32", 16, 8, 1, In::xf32, In::xf32},
      {"v_mfma_f32_32x32x4f16", 32, 4, 2, In::f16, In::f16},
      {"v_mfma_f32_16x16x4f16", 16, 4, 4, In::f16, In::f16},
      {"v_mfma_f32_4x4x4f16", 4, 4, 16, In::f16, In::f16},
      {"v_mfma_f32_32x32x8f16", 32, 8, 1, In::f16, In::f16},
      {"v_mfma_f32_16x16x16f16", 16, 16, 1, In::f16, In::f16},
      {"v_mfma_f32_32x32x2bf16", 32, 2, 2, In::bf16, In::bf16},
      {"v_mfma_f32_16x16x2bf16", 16, 2, 4, In::bf16, In::bf16},
      {"v_mfma_f32_4x4x2bf16", 4, 2, 16, In::bf16, In::bf16},
      {"v_mfma_f32_32x32x4bf16", 32, 4, 1, In::bf16, In::bf16},
      {"v_mfma_f32_16x16x8bf16", 16, 8, 1, In::bf16, In::bf16},
      {"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, In::bf16, In::bf16},
      {"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, In::bf16, In::bf16},
      {"v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, In::bf16, In::bf16},
      {"v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, In::bf16, In::bf16},
      {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, In::bf16, In::bf16},
      {"v_mfma_f32_32x32x16_f16", 32, 16, 1, In::f16, In::f16},
      {"v_mfma_f32_16x16x32_f16", 16, 32, 1, In::f16, In::f16},
      {"v_mfma_f32_32x32x16_bf16", 32, 16, 1, In::bf16, In::bf16},
      {"v_mfma_f32_16x16x32_bf16", 16, 32, 1, In::bf16, In::bf16},
      {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, In::fp8, In::fp8},
      {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, In::fp8, In::bf8},
      {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, In::bf8, In::fp8},
      {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, In::bf8, In::bf8},
      {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, In::fp8, In::bf8},
      {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, In::bf8, In::fp8},
      {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, In::bf8, In::bf8},
      {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, In::fp8, In::fp8},
      {"v_mfma_f32_32x32x64_f8f6f4", 32, 64, 1, In::fp8, In::fp8},
      {"v_mfma_f32_32x32x64_f8f6f4 cbsz:1", 32, 64, 1, In::bf8, In::fp8},
      {"v_mfma_f32_32x32x64_f8f6f4 cbsz:2 blgp:4", 32, 64, 1, In::fp6, In::fp4},
      {"v_mfma_f32_16x16x128_f8f6f4 cbsz:4 blgp:3", 16, 128, 1, In::fp4, In::bf6},
      {"v_mfma_f32_16x16x128_f8f6f4 blgp:2", 16, 128, 1, In::fp8, In::fp6},
      {"v_mfma_i32_32x32x4i8", 32, 4, 2, In::i8, In::i8},
      {"v_mfma_i32_16x16x4i8", 16, 4, 4, In::i8, In::i8},
      {"v_mfma_i32_4x4x4i8", 4, 4, 16, In::i8, In::i8},
      {"v_mfma_i32_32x32x8i8", 32, 8, 1, In::i8, In::i8},
      {"v_mfma_i32_16x16x16i8", 16, 16, 1, In::i8, In::i8},
      {"v_mfma_i32_32x32x16_i8", 32, 16, 1, In::i8, In::i8},
      {"v_mfma_i32_16x16x32_i8", 16, 32, 1, In::i8, In::i8},
      {"v_mfma_i32_32x32x32_i8", 32, 32, 1, In::i8, In::i8},
      {"v_mfma_i32_16x16x64_i8", 16, 64, 1, In::i8, In::i8},
      {"v_mfma_f64_16x16x4f64", 16, 4, 1, In::f64, In::f64},
      {"v_mfma_f64_4x4x4f64", 4, 4, 4, In::f64, In::f64},
  };
  return all;
}

std::string text_of(const Shape& s) {
  const std::string text = s.text;
  const size_t blank = text.find(' ');
  const int per_lane = s.k * s.m * s.b / 64;
  const auto registers = [&](In t) { return (per_lane * bits_of(t) + 31) / 32; };
  const int c = s.m * s.m * s.b / 64 * (s.a == In::f64 ? 2 : 1);
  return with_registers(text.substr(0, blank), registers(s.a), registers(s.bb), c,
                        blank == text.npos ? "" : text.substr(blank));
}

int number(int a, int b, int c) { return (a * 7 + b * 5 + c * 3) % 7 - 3; }

void put(Wave& w, int row, int lane, int item, int bits, uint64_t x) {
  for (int n = 0; n < bits; ++n) {
    const int bit = item * bits + n;
    if (x >> n & 1) w.v[row + bit / 32][lane] |= 1u << (bit % 32);
  }
}

// The manual's formulas, from element to place.
struct Place {
  int lane, item;
};
Place input_place(const Shape& s, int b, int i, int k) {
  const int per_lane = std::max(1, s.k * s.m * s.b / 64);
  return {i + s.m * (b + s.b * (k / per_lane)), k % per_lane};
}
Place output_place(const Shape& s, int b, int i, int j) {
  const int height = s.a == In::f64 ? 1 : 4;
  const int blocks = (64 + s.m * s.m / height - 1) / (s.m * s.m / height), rows = 64 / blocks / s.m;
  const int groups = s.m / (height * rows);
  return {j + s.m * (i / height % rows + rows * (b % blocks)),
          i % height + height * (i / (height * rows) + groups * (b / blocks))};
}

void fill(Wave& w, const Shape& s, Arch arch) {
  for (int b = 0; b < s.b; ++b)
    for (int i = 0; i < s.m; ++i)
      for (int k = 0; k < s.k; ++k) {
        const Place p = input_place(s, b, i, k);
        put(w, 20, p.lane, p.item, bits_of(s.a), encode(s.a, number(b, i, k), arch));
        put(w, 40, p.lane, p.item, bits_of(s.bb), encode(s.bb, number(k, b + 1, i), arch));
      }
}

double output(const Wave& w, const Shape& s, int row, Place p) {
  if (s.a == In::f64)
    return as_double(static_cast<uint64_t>(w.v[row + 2 * p.item + 1][p.lane]) << 32 |
                     w.v[row + 2 * p.item][p.lane]);
  if (s.a == In::i8) return static_cast<int32_t>(w.v[row + p.item][p.lane]);
  return as_float(w.v[row + p.item][p.lane]);
}

void set_output(Wave& w, const Shape& s, int row, Place p, int x) {
  const uint64_t bits = s.a == In::f64  ? as_bits(static_cast<double>(x))
                        : s.a == In::i8 ? static_cast<uint32_t>(x)
                                        : as_bits(static_cast<float>(x));
  if (s.a == In::f64) {
    w.v[row + 2 * p.item][p.lane] = static_cast<uint32_t>(bits);
    w.v[row + 2 * p.item + 1][p.lane] = static_cast<uint32_t>(bits >> 32);
  } else {
    w.v[row + p.item][p.lane] = static_cast<uint32_t>(bits);
  }
}

class MatrixInstructions : public testing::TestWithParam<Arch> {};

TEST_P(MatrixInstructions, PutElementsWhereTheFormulasSay) {
  std::vector<std::string> lines;
  for (const Shape& s : shapes()) lines.push_back(text_of(s));
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  int known = 0;
  for (size_t n = 0; n < code.size(); ++n) {
    if (code[n].empty()) continue;
    ++known;
    const Shape& s = shapes()[n];
    for (bool exact : {false, true}) {
      Bench bench(GetParam());
      Wave& w = bench.wave();
      w.exact = exact;
      w.set_pair(kExec, 0);  // matrix instructions do not ask
      fill(w, s, GetParam());
      for (int b = 0; b < s.b; ++b)
        for (int i = 0; i < s.m; ++i)
          for (int j = 0; j < s.m; ++j) set_output(w, s, 60, output_place(s, b, i, j), i - 2 * j + b);
      bench.run(code[n]);
      for (int b = 0; b < s.b; ++b)
        for (int i = 0; i < s.m; ++i)
          for (int j = 0; j < s.m; ++j) {
            double want = i - 2 * j + b;
            for (int k = 0; k < s.k; ++k) want += number(b, i, k) * number(k, b + 1, j);
            ASSERT_EQ(output(w, s, 100, output_place(s, b, i, j)), want)
                << lines[n] << (exact ? " exact" : "") << " block " << b << " row " << i << " column " << j;
          }
    }
  }
  EXPECT_GE(known, 20);
}

TEST(MatrixLanes, BroadcastAndPermute) {
  constexpr Arch kArch = Arch::gfx90a;
  Bench bench(kArch);
  Wave& w = bench.wave();
  for (int l = 0; l < kLanes; ++l) w.v[20][l] = as_bits(static_cast<float>(l)), w.v[40][l] = as_bits(1.0f);
  // A of block 1 (lanes 16 to 31) feeds all four blocks.
  bench.run(assemble(kArch, "v_mfma_f32_16x16x1f32 v[100:115], v20, v40, 0 cbsz:2 abid:1"));
  for (int n = 0; n < 16; ++n)
    for (int l = 0; l < kLanes; ++l)
      EXPECT_EQ(as_float(w.v[100 + n][l]), static_cast<float>(16 + 4 * (l / 16) + n % 4)) << n << " " << l;
  for (int l = 0; l < kLanes; ++l) w.v[20][l] = as_bits(1.0f), w.v[40][l] = as_bits(static_cast<float>(l));
  bench.run(assemble(kArch, "v_mfma_f32_32x32x1f32 v[100:131], v20, v40, 0 blgp:2"));
  for (int l = 0; l < kLanes; ++l) EXPECT_EQ(as_float(w.v[100][l]), static_cast<float>(32 + l % 32));
}

// Lane i + rows * block has the scale of row i (column j) and of 32 numbers along K: byte 1 of A's, byte 2 of
// B's.
void expect_scaled(const Shape& s, const std::string& text) {
  Bench bench(Arch::gfx950);
  Wave& w = bench.wave();
  fill(w, s, Arch::gfx950);
  for (int l = 0; l < kLanes; ++l) {
    w.v[90][l] = static_cast<uint32_t>(127 + l % 3) << 8 | 0x11000011;
    w.v[91][l] = static_cast<uint32_t>(126 + l % 5) << 16 | 0x22000022;
  }
  bench.run(assemble(Arch::gfx950, text));
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.m; ++j) {
      double want = 0;
      for (int k = 0; k < s.k; ++k)
        want += number(0, i, k) * number(k, 1, j) * std::ldexp(1.0, (i + s.m * (k / 32)) % 3) *
                std::ldexp(1.0, (j + s.m * (k / 32)) % 5 - 1);
      EXPECT_EQ(output(w, s, 100, output_place(s, 0, i, j)), want) << text << " " << i << " " << j;
    }
}

TEST(ScaledMatrix, MultipliesEveryBlockByItsScales) {
  expect_scaled({"", 16, 128, 1, In::fp8, In::fp8},
                "v_mfma_scale_f32_16x16x128_f8f6f4 v[100:103], v[20:27], v[40:47], v[60:63], v90, v91 "
                "op_sel:[1,0,0] op_sel_hi:[0,1,0]");
  expect_scaled({"", 32, 64, 1, In::fp8, In::fp8},
                "v_mfma_scale_f32_32x32x64_f8f6f4 v[100:115], v[20:27], v[40:47], v[60:75], v90, v91 "
                "op_sel:[1,0,0] op_sel_hi:[0,1,0]");
}

TEST(MatrixSubnormals, AreFlushedOnGfx90aAlone) {
  for (Arch arch : kArchs) {
    Bench bench(arch);
    Wave& w = bench.wave();
    for (int l = 0; l < kLanes; ++l) {
      w.v[20][l] = w.v[21][l] = 0x00010001;  // the smallest fp16 and bf16 numbers
      w.v[40][l] = w.v[41][l] = 0x3c003c00;
    }
    bench.run(assemble(arch, "v_mfma_f32_16x16x16f16 v[100:103], v[20:21], v[40:41], 0"));
    EXPECT_EQ(w.v[100][5], arch == Arch::gfx90a ? 0u : as_bits(0x1p-20f)) << generation(arch).name;
  }
}

// What the definition says, in exact arithmetic on whole numbers of 2^-300.
float defined_fused_dot(const std::vector<float>& a, const std::vector<float>& b, float c) {
  const auto exponent = [](float x) { return x == 0 ? -126 : std::max(std::ilogb(x), -126); };
  int top = -1000;
  for (size_t n = 0; n < a.size(); ++n) {
    const int ea = a[n] == 0 ? -126 : std::ilogb(a[n]), eb = b[n] == 0 ? -126 : std::ilogb(b[n]);
    top = std::max(top, ea + eb);
  }
  const auto cut = [](double x, int unit) { return std::ldexp(std::trunc(std::ldexp(x, -unit)), unit); };
  const auto floor_to = [](double x, int unit) { return std::ldexp(std::floor(std::ldexp(x, -unit)), unit); };
  double sum = 0;
  for (size_t n = 0; n < a.size(); ++n) sum += cut(static_cast<double>(a[n]) * b[n], top - 24);
  const int all = std::max(top, exponent(c));
  return static_cast<float>(floor_to(sum, all - 31) + floor_to(c, all - 24));
}

TEST(ExactMatrix, CutsProductsAsCdna3Does) {
  uint32_t random = 1;
  const auto next = [&random] {
    random = random * 1664525u + 1013904223u;
    return random >> 8;
  };
  int differs_from_chain = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<float> a(8), b(8);
    const auto draw = [&] {
      const float x = from_brain(static_cast<uint16_t>(next() & 0x807f)) + 0;
      return std::ldexp(x == 0 ? 1.0f : std::copysign(1.0f + static_cast<float>(next() % 128) / 128, x),
                        static_cast<int>(next() % 24) - 12);
    };
    for (int n = 0; n < 8; ++n) a[n] = next() % 16 ? draw() : 0.0f, b[n] = draw();
    const float c = draw() * (1 + static_cast<float>(next()) * 0x1p-24f);
    const float got = fused_dot_add(a.data(), 1, b.data(), 1, 8, {7}, {7}, c, false);
    ASSERT_EQ(as_bits(got), as_bits(defined_fused_dot(a, b, c))) << round;
    float chain = c;
    for (int n = 0; n < 8; ++n) chain = std::fma(a[n], b[n], chain);
    differs_from_chain += chain != got;
  }
  EXPECT_GT(differs_from_chain, 1000);
}

TEST(ExactMatrix, SubnormalInputsKeepTheirExponent) {
  // 2^-20 is subnormal in fp16: its product with 2^15 counts from 2^(-14 + 15), 24 bits below which 2^-24 is
  // cut.
  const float a[] = {0x1p-20f, 0x1p-10f, 0, 0, 0, 0, 0, 0}, b[] = {0x1p15f, 0x1p-14f, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(fused_dot_add(a, 1, b, 1, 8, {10, -14}, {10, -14}, 0, false), 0x1p-5f);
  EXPECT_EQ(fused_dot_add(a, 1, b, 1, 8, {10}, {10}, 0, false), 0x1p-5f + 0x1p-24f);
}

TEST(ExactMatrix, AddsPairsOnCdna2) {
  const float a[] = {1, 0x1p-12f, 0x1p-12f, -1}, b[] = {0x1p12f, 1, 1, 0x1p12f};
  // 2^12 + 2^-12 rounds to 2^12, 2^-12 - 2^12 is exact: the pairs add up to 2^-12. One after another: 0.
  EXPECT_EQ(pairwise_dot_add(a, 1, b, 1, 4, 0), 0x1p-12f);
  const float tiny[] = {0x1p-100f, 0}, small[] = {0x1p-40f, 0};
  EXPECT_EQ(pairwise_dot_add(tiny, 1, small, 1, 2, 0), 0.0f);  // 2^-140 is subnormal
}

// Of every four elements of A two are kept; which, depends on row and block here. K counts the dense
// product's.
const std::vector<Shape>& sparse_shapes() {
  static const std::vector<Shape> all = {
      {"v_smfmac_f32_16x16x32_f16 abid:3", 16, 32, 1, In::f16, In::f16},
      {"v_smfmac_f32_16x16x32_bf16", 16, 32, 1, In::bf16, In::bf16},
      {"v_smfmac_f32_32x32x16_f16 abid:1", 32, 16, 1, In::f16, In::f16},
      {"v_smfmac_f32_32x32x16_bf16 abid:2", 32, 16, 1, In::bf16, In::bf16},
      {"v_smfmac_f32_16x16x64_fp8_fp8 abid:1", 16, 64, 1, In::fp8, In::fp8},
      {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, In::fp8, In::bf8},
      {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, In::bf8, In::fp8},
      {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, 1, In::bf8, In::bf8},
      {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, In::fp8, In::fp8},
      {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 1, In::fp8, In::bf8},
      {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 1, In::bf8, In::fp8},
      {"v_smfmac_f32_32x32x32_bf8_bf8 abid:1", 32, 32, 1, In::bf8, In::bf8},
      {"v_smfmac_i32_16x16x64_i8 abid:1", 16, 64, 1, In::i8, In::i8},
      {"v_smfmac_i32_32x32x32_i8", 32, 32, 1, In::i8, In::i8},
      {"v_smfmac_f32_16x16x64_f16 abid:1", 16, 64, 1, In::f16, In::f16},
      {"v_smfmac_f32_16x16x64_bf16", 16, 64, 1, In::bf16, In::bf16},
      {"v_smfmac_f32_32x32x32_f16", 32, 32, 1, In::f16, In::f16},
      {"v_smfmac_f32_32x32x32_bf16 abid:1", 32, 32, 1, In::bf16, In::bf16},
      {"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, 1, In::fp8, In::fp8},
      {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, 1, In::fp8, In::bf8},
      {"v_smfmac_f32_16x16x128_bf8_fp8", 16, 128, 1, In::bf8, In::fp8},
      {"v_smfmac_f32_16x16x128_bf8_bf8", 16, 128, 1, In::bf8, In::bf8},
      {"v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, 1, In::fp8, In::fp8},
      {"v_smfmac_f32_32x32x64_fp8_bf8", 32, 64, 1, In::fp8, In::bf8},
      {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, 1, In::bf8, In::fp8},
      {"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, 1, In::bf8, In::bf8},
      {"v_smfmac_i32_16x16x128_i8", 16, 128, 1, In::i8, In::i8},
      {"v_smfmac_i32_32x32x64_i8", 32, 64, 1, In::i8, In::i8},
  };
  return all;
}

std::string sparse_text(const Shape& s) {
  const std::string text = s.text;
  const size_t blank = text.find(' ');
  const int b = s.k * s.m / 64 * bits_of(s.bb) / 32;
  const auto range = [](int first, int n) {
    return "v[" + std::to_string(first) + ":" + std::to_string(first + n - 1) + "]";
  };
  return text.substr(0, blank) + " " + range(100, s.m * s.m / 64) + ", " + range(20, b / 2) + ", " +
         range(40, b) + ", v80" + (blank == text.npos ? "" : text.substr(blank));
}

// Where the kept element e of a block of four stands.
int kept_at(int row, int block, int e) {
  constexpr int kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  return kPairs[(row + 5 * block) % 6][e];
}

TEST_P(MatrixInstructions, SparseOnesMultiplyWhatTheIndicesName) {
  std::vector<std::string> lines;
  for (const Shape& s : sparse_shapes()) lines.push_back(sparse_text(s));
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  int known = 0;
  for (size_t n = 0; n < code.size(); ++n) {
    if (code[n].empty()) continue;
    ++known;
    const Shape& s = sparse_shapes()[n];
    const Shape kept{s.text, s.m, s.k / 2, 1, s.a, s.bb};
    const std::string text = s.text;
    const size_t abid = text.find("abid:");
    const int set = abid == text.npos ? 0 : text[abid + 5] - '0', first_bit = set * s.k * s.m / 64;
    Bench bench(GetParam());
    Wave& w = bench.wave();
    for (int i = 0; i < s.m; ++i) {
      for (int c = 0; c < s.k / 2; ++c) {
        const Place p = input_place(kept, 0, i, c);
        put(w, 20, p.lane, p.item, bits_of(s.a), encode(s.a, number(1, i, c), GetParam()));
        put(w, 80, p.lane, first_bit / 2 + p.item, 2, static_cast<uint64_t>(kept_at(i, c / 2, c % 2)));
      }
      for (int k = 0; k < s.k; ++k) {
        const Place p = input_place(s, 0, i, k);
        put(w, 40, p.lane, p.item, bits_of(s.bb), encode(s.bb, number(k, 1, i), GetParam()));
      }
      for (int j = 0; j < s.m; ++j) set_output(w, s, 100, output_place(s, 0, i, j), i - 2 * j);
    }
    bench.run(code[n]);
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.m; ++j) {
        int want = i - 2 * j;
        for (int c = 0; c < s.k / 2; ++c)
          want += number(1, i, c) * number(4 * (c / 2) + kept_at(i, c / 2, c % 2), 1, j);
        ASSERT_EQ(output(w, s, 100, output_place(s, 0, i, j)), want) << lines[n] << " " << i << " " << j;
      }
  }
  EXPECT_EQ(known, GetParam() == Arch::gfx90a ? 0 : GetParam() == Arch::gfx942 ? 14 : 28);
}

INSTANTIATE_TEST_SUITE_P(Each, MatrixInstructions, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace

std::vector<std::string> matrix_lines() {
  std::vector<std::string> lines;
  for (const Shape& s : shapes()) lines.push_back(text_of(s));
  for (const Shape& s : sparse_shapes()) lines.push_back(sparse_text(s));
  return lines;
}

}  // namespace cdna::test
