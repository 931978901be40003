// Integers of 16 and 32 bits, beyond what the arithmetic rows have.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

template <class T>
T middle(T a, T b, T c) {
  T x[] = {a, b, c};
  std::sort(x, x + 3);
  return x[1];
}

u64 differences(const In& i, bool masked) {
  u32 sum = lo(i.c);
  for (int n = 0; n < 32; n += 8) {
    const int x = static_cast<int>(i.a >> n & 255), y = static_cast<int>(i.b >> n & 255);
    if (!masked || y) sum += static_cast<u32>(std::abs(x - y));
  }
  return sum;
}

// The result takes the low half; the other is cleared (two sources) or kept (three).
Case low(const std::string& name, std::function<int(const In&)> of) {
  return {name + " v20, v10, v12", kWord, kEqual,
          [of](const In& i) { return u64{u16(static_cast<u64>(of(i)))}; }};
}
Case low3(const std::string& name, std::function<int(const In&)> of) {
  return {name + " v20, v10, v12, v14", kWord, kEqual,
          [of](const In& i) { return u64{u16(static_cast<u64>(of(i)))} | (i.d & 0xffff0000); }};
}
Case word(const std::string& name, std::function<u64(const In&)> of) {
  return {name + " v20, v10, v12", kWord, kEqual, [of](const In& i) { return u64{lo(of(i))}; }};
}
Case word3(const std::string& name, std::function<u64(const In&)> of) {
  return {name + " v20, v10, v12, v14", kWord, kEqual, [of](const In& i) { return u64{lo(of(i))}; }};
}
Case borrow(const std::string& text, std::function<bool(const In&)> of) {
  return {text, kMask, kEqual, [of](const In& i) { return u64{of(i)}; }};
}

u64 wide(i64 x) { return static_cast<u64>(x); }

}  // namespace

Cases integer_cases() {
  return {
      low("v_add_i16", [](const In& i) { return s16(i.a) + s16(i.b); }),
      low("v_sub_i16", [](const In& i) { return s16(i.a) - s16(i.b); }),
      low("v_sub_u16", [](const In& i) { return u16(i.a) - u16(i.b); }),
      low("v_subrev_u16", [](const In& i) { return u16(i.b) - u16(i.a); }),
      low("v_lshrrev_b16", [](const In& i) { return u16(i.b) >> (i.a & 15); }),
      low("v_max_i16", [](const In& i) { return std::max(s16(i.a), s16(i.b)); }),
      low("v_max_u16", [](const In& i) { return std::max(u16(i.a), u16(i.b)); }),
      low("v_min_i16", [](const In& i) { return std::min(s16(i.a), s16(i.b)); }),
      low("v_min_u16", [](const In& i) { return std::min(u16(i.a), u16(i.b)); }),
      low3("v_mad_i16", [](const In& i) { return s16(i.a) * s16(i.b) + s16(i.c); }),
      low3("v_mad_u16", [](const In& i) { return static_cast<int>(u32{u16(i.a)} * u16(i.b) + u16(i.c)); }),
      low3("v_max3_i16", [](const In& i) { return std::max({s16(i.a), s16(i.b), s16(i.c)}); }),
      low3("v_max3_u16", [](const In& i) { return std::max({u16(i.a), u16(i.b), u16(i.c)}); }),
      low3("v_min3_i16", [](const In& i) { return std::min({s16(i.a), s16(i.b), s16(i.c)}); }),
      low3("v_min3_u16", [](const In& i) { return std::min({u16(i.a), u16(i.b), u16(i.c)}); }),
      low3("v_med3_i16", [](const In& i) { return middle(s16(i.a), s16(i.b), s16(i.c)); }),
      low3("v_med3_u16", [](const In& i) { return middle(u16(i.a), u16(i.b), u16(i.c)); }),
      word("v_add_i32", [](const In& i) { return i.a + i.b; }),
      word("v_sub_i32", [](const In& i) { return i.a - i.b; }),
      word("v_xnor_b32", [](const In& i) { return ~(i.a ^ i.b); }),
      word("v_bfm_b32", [](const In& i) { return ((u64{1} << (i.a & 31)) - 1) << (i.b & 31); }),
      word("v_max_i32", [](const In& i) { return wide(std::max(s(i.a), s(i.b))); }),
      word("v_min_u32", [](const In& i) { return u64{std::min(lo(i.a), lo(i.b))}; }),
      word("v_mul_hi_u32_u24", [](const In& i) { return u64{u24(i.a)} * u24(i.b) >> 32; }),
      word3("v_max3_i32", [](const In& i) { return wide(std::max({s(i.a), s(i.b), s(i.c)})); }),
      word3("v_max3_u32", [](const In& i) { return u64{std::max({lo(i.a), lo(i.b), lo(i.c)})}; }),
      word3("v_min3_i32", [](const In& i) { return wide(std::min({s(i.a), s(i.b), s(i.c)})); }),
      word3("v_min3_u32", [](const In& i) { return u64{std::min({lo(i.a), lo(i.b), lo(i.c)})}; }),
      word3("v_med3_u32", [](const In& i) { return u64{middle(lo(i.a), lo(i.b), lo(i.c))}; }),
      word3("v_alignbyte_b32", [](const In& i) { return (i.a << 32 | lo(i.b)) >> (8 * (i.c & 3)); }),
      word3("v_mad_i32_i16", [](const In& i) { return wide(i64{s16(i.a)} * s16(i.b) + s(i.c)); }),
      word3("v_mad_u32_u16", [](const In& i) { return u64{u16(i.a)} * u16(i.b) + i.c; }),
      word3("v_sad_u32",
            [](const In& i) { return wide(std::abs(i64{lo(i.a)} - i64{lo(i.b)}) + i64{lo(i.c)}); }),
      word3("v_sad_u8", [](const In& i) { return differences(i, false); }),
      word3("v_msad_u8", [](const In& i) { return differences(i, true); }),
      {"v_bitop3_b16 v20, v10, v12, v14 bitop3:0x1b", kWord, kEqual,
       [](const In& i) {
         u64 out = 0;
         for (int n = 0; n < 16; ++n)
           out |= u64{0x1bu >> ((i.a >> n & 1) * 4 + (i.b >> n & 1) * 2 + (i.c >> n & 1)) & 1} << n;
         return out;
       }},
      {"v_ffbh_i32 v20, v10", kWord, kEqual,
       [](const In& i) {
         for (int n = 1; n < 32; ++n)
           if ((i.a >> (31 - n) & 1) != (i.a >> 31 & 1)) return u64{static_cast<u32>(n)};
         return u64{~0u};
       }},
      {"v_prng_b32 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a << 1) ^ (i.a >> 31 & 1 ? 0xc5u : 0u)}; }},
      borrow("v_sub_co_u32 v20, vcc, v10, v12", [](const In& i) { return lo(i.b) > lo(i.a); }),
      borrow("v_subrev_co_u32 v20, vcc, v10, v12", [](const In& i) { return lo(i.a) > lo(i.b); }),
      borrow("v_subbrev_co_u32 v20, vcc, v10, v12, vcc",
             [](const In& i) { return u64{lo(i.a)} + i.vcc > lo(i.b); }),
      {"v_sub_co_u32 v20, vcc, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a - i.b)}; }},
      {"v_subrev_co_u32 v20, vcc, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.b - i.a)}; }},
      {"v_subbrev_co_u32 v20, vcc, v10, v12, vcc", kWord, kEqual,
       [](const In& i) { return u64{lo(i.b - i.a - i.vcc)}; }},
      {"v_swap_b32 v20, v10", kWord, kEqual, [](const In& i) { return u64{lo(i.a)}; }},
      {"v_accvgpr_write_b32 a20, v10\ns_nop 4\nv_accvgpr_read_b32 v20, a20", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a)}; }},
      {"v_accvgpr_write_b32 a20, v10\ns_nop 4\nv_accvgpr_mov_b32 a21, a20\ns_nop 4\nv_accvgpr_read_b32 v20, "
       "a21",
       kWord, kEqual, [](const In& i) { return u64{lo(i.a)}; }},
  };
}

}  // namespace cdna::test
