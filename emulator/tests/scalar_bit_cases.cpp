// Bits, and the arithmetic that the basic rows leave out; every comparison.
#include "scalar_case.hpp"

namespace cdna::test::scalar {
namespace {

using Two = std::function<u64(u64, u64)>;

// An operation on words and on pairs; SCC tells whether the result is not zero.
void add_logic(Cases& all, const std::string& name, const Two& of) {
  all.push_back(
      {"s_" + name + "_b32 s12, s8, s10", false, [of](const In& i) { return logic(cut(of(i.a, i.b))); }});
  all.push_back({"s_" + name + "_b64 s[12:13], s[8:9], s[10:11]", true,
                 [of](const In& i) { return logic(of(i.a, i.b)); }});
}

u64 quads(u64 x, int bits) {
  u64 out = 0;
  for (int n = 0; n < bits; n += 4)
    if (x >> n & 15) out |= u64{15} << n;
  return out;
}

// How many bits, counted from the top, equal the sign; -1 when all do.
u32 sign_run(u64 x, int bits) {
  for (int n = 1; n < bits; ++n)
    if ((x >> (bits - 1 - n) & 1) != (x >> (bits - 1) & 1)) return static_cast<u32>(n);
  return ~0u;
}

u32 first_set(u64 x, int bits) {
  for (int n = 0; n < bits; ++n)
    if (x >> n & 1) return static_cast<u32>(n);
  return ~0u;
}
u32 count(u64 x, int bits) {
  u32 n = 0;
  for (int k = 0; k < bits; ++k) n += x >> k & 1;
  return n;
}
u32 top_set(u64 x, int bits) {
  for (int n = 0; n < bits; ++n)
    if (x >> (bits - 1 - n) & 1) return static_cast<u32>(n);
  return ~0u;
}

Case word(const std::string& text, std::function<u64(const In&)> of) {
  return {text, false, [of](const In& i) { return Out{cut(of(i)), kKept}; }};
}
Case pair(const std::string& text, std::function<u64(const In&)> of) {
  return {text, true, [of](const In& i) { return Out{of(i), kKept}; }};
}
Case flagged(const std::string& text, std::function<u64(const In&)> of) {
  return {text, false, [of](const In& i) { return logic(cut(of(i))); }};
}

void add_fields(Cases& all) {
  const Cases rows = {
      {"s_bfe_u64 s[12:13], s[8:9], s10", true,
       [](const In& i) {
         const u32 width = i.b >> 16 & 127, offset = i.b & 63;
         return logic(width >= 64 ? i.a >> offset : i.a >> offset & ((u64{1} << width) - 1));
       }},
      {"s_bfe_i64 s[12:13], s[8:9], 0x70005", true,
       [](const In& i) { return logic(static_cast<u64>(static_cast<i64>(i.a << 52) >> 57)); }},
      {"s_lshr_b32 s12, s8, s10", false, [](const In& i) { return logic(i.la() >> (i.b & 31)); }},
      {"s_lshl_b64 s[12:13], s[8:9], s10", true, [](const In& i) { return logic(i.a << (i.b & 63)); }},
      {"s_not_b64 s[12:13], s[8:9]", true, [](const In& i) { return logic(~i.a); }},
      {"s_wqm_b64 s[12:13], s[8:9]", true, [](const In& i) { return logic(quads(i.a, 64)); }},
      flagged("s_wqm_b32 s12, s8", [](const In& i) { return quads(i.la(), 32); }),
      flagged("s_bcnt0_i32_b32 s12, s8", [](const In& i) { return u64{32 - count(i.a, 32)}; }),
      flagged("s_bcnt0_i32_b64 s12, s[8:9]", [](const In& i) { return u64{64 - count(i.a, 64)}; }),
      flagged("s_bcnt1_i32_b32 s12, s8", [](const In& i) { return u64{count(i.a, 32)}; }),
      flagged("s_absdiff_i32 s12, s8, s10",
              [](const In& i) {
                const u32 x = cut(i.a - i.b);
                return u64{static_cast<int32_t>(x) < 0 ? 0 - x : x};
              }),
      word("s_bfm_b32 s12, s8, s10", [](const In& i) { return ((u64{1} << (i.a & 31)) - 1) << (i.b & 31); }),
      pair("s_bfm_b64 s[12:13], s8, s10",
           [](const In& i) { return ((u64{1} << (i.a & 63)) - 1) << (i.b & 63); }),
      pair("s_brev_b64 s[12:13], s[8:9]",
           [](const In& i) {
             u64 x = 0;
             for (int n = 0; n < 64; ++n) x |= (i.a >> n & 1) << (63 - n);
             return x;
           }),
      word("s_ff0_i32_b32 s12, s8", [](const In& i) { return u64{first_set(~i.a, 32)}; }),
      word("s_ff0_i32_b64 s12, s[8:9]", [](const In& i) { return u64{first_set(~i.a, 64)}; }),
      word("s_ff1_i32_b32 s12, s8", [](const In& i) { return u64{first_set(i.a, 32)}; }),
      word("s_flbit_i32_b64 s12, s[8:9]", [](const In& i) { return u64{top_set(i.a, 64)}; }),
      word("s_flbit_i32 s12, s8", [](const In& i) { return u64{sign_run(i.a, 32)}; }),
      word("s_flbit_i32_i64 s12, s[8:9]", [](const In& i) { return u64{sign_run(i.a, 64)}; }),
      word("s_sext_i32_i8 s12, s8", [](const In& i) { return static_cast<u64>(static_cast<int8_t>(i.a)); }),
      word("s_pack_lh_b32_b16 s12, s8, s10", [](const In& i) { return (i.a & 0xffff) | (i.b & 0xffff0000); }),
      word("s_pack_hh_b32_b16 s12, s8, s10",
           [](const In& i) { return u64{i.la() >> 16} | (i.b & 0xffff0000); }),
      word("s_bitset0_b32 s12, s8", [](const In& i) { return i.d & ~(u64{1} << (i.a & 31)); }),
      word("s_bitset1_b32 s12, s8", [](const In& i) { return i.d | u64{1} << (i.a & 31); }),
      pair("s_bitset0_b64 s[12:13], s8", [](const In& i) { return i.d & ~(u64{1} << (i.a & 63)); }),
      pair("s_bitset1_b64 s[12:13], s8", [](const In& i) { return i.d | u64{1} << (i.a & 63); }),
      word("s_mov_b32 s12, s8", [](const In& i) { return i.a; }),
      word("s_cmov_b32 s12, s8", [](const In& i) { return i.scc ? i.a : i.d; }),
      pair("s_cmov_b64 s[12:13], s[8:9]", [](const In& i) { return i.scc ? i.a : i.d; }),
      word("s_cmovk_i32 s12, 0x8001", [](const In& i) { return i.scc ? u64{0xffff8001} : i.d; }),
      word("s_mulk_i32 s12, 0xfffd", [](const In& i) { return u64{0} - 3 * i.d; }),
      {"s_addk_i32 s12, 0x8000", false,
       [](const In& i) {
         const i64 x = i64{static_cast<int32_t>(i.d)} - 0x8000;
         return Out{cut(static_cast<u64>(x)), x != static_cast<int32_t>(x)};
       }},
      {"s_max_i32 s12, s8, s10", false,
       [](const In& i) { return Out{i.sa() > i.sb() ? i.la() : i.lb(), i.sa() > i.sb()}; }},
      {"s_min_u32 s12, s8, s10", false,
       [](const In& i) { return Out{i.la() < i.lb() ? i.la() : i.lb(), i.la() < i.lb()}; }},
      word("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s8\ns_getreg_b32 s12, hwreg(HW_REG_MODE, 4, 4)\n"
           "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15",
           [](const In& i) { return i.a & 15; }),
  };
  all.insert(all.end(), rows.begin(), rows.end());
}

}  // namespace

Cases bit_cases() {
  Cases all;
  add_logic(all, "and", [](u64 a, u64 b) { return a & b; });
  add_logic(all, "or", [](u64 a, u64 b) { return a | b; });
  add_logic(all, "xor", [](u64 a, u64 b) { return a ^ b; });
  add_logic(all, "andn2", [](u64 a, u64 b) { return a & ~b; });
  add_logic(all, "orn2", [](u64 a, u64 b) { return a | ~b; });
  add_logic(all, "nand", [](u64 a, u64 b) { return ~(a & b); });
  add_logic(all, "nor", [](u64 a, u64 b) { return ~(a | b); });
  add_logic(all, "xnor", [](u64 a, u64 b) { return ~(a ^ b); });
  add_fields(all);
  for (const int shift : {1, 2, 4})
    all.push_back({"s_lshl" + std::to_string(shift) + "_add_u32 s12, s8, s10", false, [shift](const In& i) {
                     const u64 x = (u64{i.la()} << shift) + i.lb();
                     return Out{cut(x), x > ~0u};
                   }});
  return all;
}

Cases compare_cases() {
  struct Name {
    const char* text;
    bool below, same, above;
  };
  Cases all;
  for (const Name& n :
       {Name{"eq", false, true, false}, Name{"lg", true, false, true}, Name{"gt", false, false, true},
        Name{"ge", false, true, true}, Name{"lt", true, false, false}, Name{"le", true, true, false}})
    for (const bool is_signed : {true, false}) {
      const auto holds = [n, is_signed](u32 a, u32 b) {
        const bool below = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
        return static_cast<int>(a == b ? n.same : below ? n.below : n.above);
      };
      const std::string type = is_signed ? "_i32 " : "_u32 ";
      all.push_back({std::string("s_cmp_") + n.text + type + "s8, s10", false,
                     [holds](const In& i) { return Out{0, holds(i.la(), i.lb())}; }});
      all.push_back(
          {std::string("s_cmpk_") + n.text + type + "s8, 0xfff0", false, [holds, is_signed](const In& i) {
             return Out{0, holds(i.la(), is_signed ? 0xfffffff0u : 0xfff0u)};
           }});
    }
  all.push_back({"s_cmp_eq_u64 s[8:9], s[10:11]", false, [](const In& i) { return Out{0, i.a == i.b}; }});
  all.push_back(
      {"s_bitcmp0_b32 s8, s10", false, [](const In& i) { return Out{0, !(i.a >> (i.b & 31) & 1)}; }});
  all.push_back(
      {"s_bitcmp0_b64 s[8:9], s10", false, [](const In& i) { return Out{0, !(i.a >> (i.b & 63) & 1)}; }});
  all.push_back({"s_bitcmp1_b64 s[8:9], s10", false,
                 [](const In& i) { return Out{0, static_cast<int>(i.a >> (i.b & 63) & 1)}; }});
  return all;
}

}  // namespace cdna::test::scalar
