// Tiles in software, and the products on them.
#define FLASHWAVE_TARGET tiles_test
#define FLASHWAVE_SIMD_WIDE
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cpu/kernels/operand.hpp"

namespace fw::tiles_test {
namespace {

using P = TileProduct<EmulatedTiles>;
using Bits = std::uint32_t;

Bits bits(float x) { return std::bit_cast<Bits>(x); }
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float half_of(Bits pair, int which) {
  return flushed(std::bit_cast<float>(which ? pair & 0xffff0000u : pair << 16));
}

// An element of C += A B, by the manual's words.
float manual(float c, const Bits* a, const Bits* b) {
  float sum[2] = {};
  for (int k = 0; k < 16; ++k)
    for (int half = 0; half < 2; ++half)
      sum[half] = flushed(std::fma(half_of(a[k], half), half_of(b[16 * k], half), sum[half]));
  return flushed(flushed(c) + flushed(sum[0] + sum[1]));
}

// Halves around every edge that bf16 and fp32 sums have, and ordinary ones.
std::uint16_t strange_half(std::mt19937& random) {
  constexpr std::uint16_t edges[] = {0x0000, 0x0001, 0x007f, 0x0080, 0x0100, 0x1f80, 0x2000, 0x3f7f,
                                     0x3f80, 0x3f81, 0x5f80, 0x7f7f, 0x7f80, 0x7fc0, 0x7f00, 0x4b80};
  const std::uint32_t r = random();
  const std::uint16_t sign = r & 1 ? 0x8000 : 0;
  return static_cast<std::uint16_t>(sign | (r & 6 ? r >> 17 : edges[(r >> 8) % std::size(edges)]));
}

TEST(Tiles, MultiplyAddIsTheManuals) {
  std::mt19937 random(1);
  TilesInUse<EmulatedTiles> tiles;
  for (int round = 0; round < 300; ++round) {
    Bits a[256], b[256], c[256], out[256];
    // Few halves are special in some rounds, else infinity and NaN would hide the rest.
    const auto half = [&]() -> Bits {
      if (round % 3 == 0 || random() % 512 == 0) return strange_half(random);
      const auto exponent = static_cast<Bits>(round % 3 == 1 ? 100 + random() % 60 : 55 + random() % 20);
      return (random() & 0x8000) | exponent << 7 | (random() & 0x7f);
    };
    for (int i = 0; i < 256; ++i) {
      a[i] = half() | half() << 16;
      b[i] = half() | half() << 16;
      c[i] = half() << 16 | (random() & 0xffff);
    }
    EmulatedTiles::load<3>(c, 64);
    EmulatedTiles::load<5>(a, 64);
    EmulatedTiles::load<6>(b, 64);
    EmulatedTiles::multiply_add<3, 5, 6>();
    EmulatedTiles::store<3>(out, 64);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        const float wanted = manual(std::bit_cast<float>(c[16 * m + n]), a + 16 * m, b + n);
        const float got = std::bit_cast<float>(out[16 * m + n]);
        if (std::isnan(wanted))
          ASSERT_TRUE(std::isnan(got)) << round << ": " << m << ", " << n;
        else
          ASSERT_EQ(bits(got), bits(wanted)) << round << ": " << m << ", " << n;
      }
  }
}

TEST(Tiles, TheEvenAndTheOddSumMeetAtTheEnd) {
  const auto one_pair = [](float a_even, float a_odd, float b_even, float b_odd, float c) {
    TilesInUse<EmulatedTiles> tiles;
    Bits a[256] = {}, b[256] = {}, out[256] = {};
    a[0] = bits(a_even) >> 16 | bits(a_odd);
    b[0] = bits(b_even) >> 16 | bits(b_odd);
    out[0] = bits(c);
    EmulatedTiles::load<0>(out, 64);
    EmulatedTiles::load<1>(a, 64);
    EmulatedTiles::load<2>(b, 64);
    EmulatedTiles::multiply_add<0, 1, 2>();
    EmulatedTiles::store<0>(out, 64);
    return std::bit_cast<float>(out[0]);
  };
  EXPECT_EQ(one_pair(2, 3, 5, 7, 11), 2 * 5 + 3 * 7 + 11);
  EXPECT_EQ(one_pair(0x1p30f, -0x1p30f, 1, 1, 0x1p-30f), 0x1p-30f);         // they cancel before c is added
  EXPECT_EQ(bits(one_pair(0x1p-127f, 0, 0x1p127f, 0, -0.0f)), bits(0.0f));  // subnormal in: zero
  EXPECT_EQ(one_pair(0x1p-64f, 0, 0x1p-64f, 0, 0), 0.0f);                   // subnormal out: zero
  EXPECT_EQ(one_pair(0, 0, 1, 1, 0x1p-127f), 0.0f);                         // subnormal sum: zero
  EXPECT_TRUE(std::isnan(one_pair(0, 0, std::numeric_limits<float>::infinity(), 0, 0)));
}

#if defined(__x86_64__)
TEST(TilesDeathTest, WithoutAConfigurationAnInstructionIsUndefined) {
  EXPECT_DEATH(EmulatedTiles::zero<0>(), "");
  {
    TilesInUse<EmulatedTiles> tiles;
  }
  EXPECT_DEATH(EmulatedTiles::zero<0>(), "");
}
#endif

// A matrix of small whole numbers, whose products are exact, in a field of infinities, none of which may be
// read as part of it.
struct Field {
  int rows, columns, stride;  // in elements
  std::vector<std::uint16_t> halves;

  Field(int count, int width, int distance, std::mt19937& random)
      : rows(count),
        columns(width),
        stride(distance),
        halves(static_cast<std::size_t>((count + 1) * distance), 0x7f80) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        at(r, c) =
            static_cast<std::uint16_t>(bits(static_cast<float>(static_cast<int>(random() % 17) - 8)) >> 16);
  }
  std::uint16_t& at(int r, int c) { return halves[static_cast<std::size_t>(r * stride + c)]; }
  float value(int r, int c) { return std::bit_cast<float>(Bits{at(r, c)} << 16); }
  const void* row(int r) { return &at(r, 0); }
};

// One product of random operands: `depth` values on each side, of which the left is (count, depth).
template <int N, Before before>
void expect_product(int count, int depth, bool across, std::mt19937& random) {
  constexpr int W = N * lanes, out_stride = W + 5;
  const int pairs = (depth + 1) / 2;
  Field left(count, depth, depth + 3, random), right(depth, W, W, random);
  if (across) {  // keys by dimensions
    left = Field(depth, count, count + 3, random);
  }
  const auto left_value = [&](int i, int k) { return across ? left.value(k, i) : left.value(i, k); };

  std::vector<const void*> found;
  for (int r = 0; r < left.rows; ++r) found.push_back(left.row(r));
  std::vector<u32> copy(static_cast<std::size_t>(16 * 1024), 0x7f807f80);
  std::vector<const u32*> rows(static_cast<std::size_t>(std::max(left.rows, pairs)));
  std::vector<u32> columns(static_cast<std::size_t>((pairs + 1) * W), 0x7f807f80);
  for (int k = 0; k < depth; ++k)
    for (int n = 0; n < W; ++n) {
      u32& unit = columns[static_cast<std::size_t>(k / 2 * W + n)];
      unit = k % 2 ? unit | u32{right.at(k, n)} << 16 : right.at(k, n);
    }
  std::vector<float> out(static_cast<std::size_t>((count + 1) * out_stride)), fade(W);
  for (float& x : out) x = static_cast<float>(random() % 64);
  for (float& x : fade) x = static_cast<float>(random() % 2);
  const std::vector<float> old = out;

  TilesInUse<EmulatedTiles> tiles;
  if (across) {
    point_to_columns<Bf16, P>(rows.data(), copy.data(), found.data(), depth, count);
    product<P, N, before>(out.data(), out_stride, count, AcrossRows<u32>{rows.data()}, columns.data(), W,
                          pairs, fade.data());
  } else {
    point_to_rows<Bf16, P>(rows.data(), copy.data(), found.data(), count, depth);
    product<P, N, before>(out.data(), out_stride, count, AlongRows<u32>{rows.data()}, columns.data(), W,
                          pairs, fade.data());
  }
  for (int i = 0; i <= count; ++i)
    for (int n = 0; n < out_stride; ++n) {
      const auto place = static_cast<std::size_t>(i * out_stride + n);
      float wanted = old[place];
      if (i < count && n < W) {
        if (before == Before::nothing) wanted = 0;
        if (before == Before::fading) wanted *= fade[static_cast<std::size_t>(n)];
        for (int k = 0; k < depth; ++k) wanted += left_value(i, k) * right.value(k, n);
      }
      ASSERT_EQ(out[place], wanted) << count << " x " << depth << (across ? " across" : " along") << ", " << N
                                    << " vectors: row " << i << ", lane " << n;
    }
}

template <int N>
void expect_products() {
  std::mt19937 random(N);
  for (const bool across : {false, true})
    for (const int count : {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 96, 130})
      for (const int depth : {1, 2, 3, 16, 30, 31, 32, 33, 34, 64, 65, 95, 96, 128}) {
        if ((across ? depth : count) > tile_keys) continue;
        expect_product<N, Before::nothing>(count, depth, across, random);
        expect_product<N, Before::sum>(count, depth, across, random);
        expect_product<N, Before::fading>(count, depth, across, random);
      }
}

TEST(TileProduct, OneVectorIsExact) { expect_products<1>(); }
TEST(TileProduct, TwoVectorsAreExact) { expect_products<2>(); }
TEST(TileProduct, FourVectorsAreExact) { expect_products<4>(); }

TEST(TileProduct, RowsStayWhereTheyLieIfEvenlySpaced) {
  std::mt19937 random(1);
  Field field(20, 8, 12, random);
  std::vector<const void*> found;
  for (int r = 0; r < 20; ++r) found.push_back(field.row(r));
  std::vector<u32> copy(20 * 64);
  const u32* rows[20];
  point_to_rows<Bf16, P>(rows, copy.data(), found.data(), 20, 8);
  for (int r = 0; r < 20; ++r)
    EXPECT_EQ(static_cast<const void*>(rows[r]), found[static_cast<std::size_t>(r)]);

  std::swap(found[3], found[17]);  // as pages may have them
  point_to_rows<Bf16, P>(rows, copy.data(), found.data(), 20, 8);
  for (int r = 0; r < 20; ++r) {
    EXPECT_EQ(rows[r] - rows[0], r * (rows[1] - rows[0]));
    EXPECT_EQ(std::memcmp(rows[r], found[static_cast<std::size_t>(r)], 16), 0);
  }
}

TEST(TileProduct, TheLastRowOutOfLineIsNoticed) {
  std::uint16_t values[64] = {};
  const void* rows[] = {values, values + 8, values + 16, values + 32};
  EXPECT_TRUE(evenly_spaced(rows, 3));
  EXPECT_FALSE(evenly_spaced(rows, 4));
  EXPECT_TRUE(evenly_spaced(rows, 1));
}

}  // namespace
}  // namespace fw::tiles_test
