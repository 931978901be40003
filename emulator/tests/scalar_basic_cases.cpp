// The scalar instructions that kernels are full of.
#include "scalar_case.hpp"

namespace cdna::test::scalar {

Cases basic_cases() {
  return {
      {"s_add_u32 s12, s8, s10", false,
       [](const In& i) { return Out{cut(i.a + i.b), u64{i.la()} + i.lb() > ~0u}; }},
      {"s_addc_u32 s12, s8, s10", false,
       [](const In& i) {
         const u64 x = u64{i.la()} + i.lb() + i.scc;
         return Out{cut(x), x > ~0u};
       }},
      {"s_sub_u32 s12, s8, s10", false, [](const In& i) { return Out{cut(i.a - i.b), i.lb() > i.la()}; }},
      {"s_subb_u32 s12, s8, s10", false,
       [](const In& i) { return Out{cut(i.a - i.b - i.scc), u64{i.lb()} + i.scc > i.la()}; }},
      {"s_add_i32 s12, s8, s10", false,
       [](const In& i) {
         const i64 x = i64{i.sa()} + i.sb();
         return Out{cut(static_cast<u64>(x)), x != static_cast<int32_t>(x)};
       }},
      {"s_sub_i32 s12, s8, s10", false,
       [](const In& i) {
         const i64 x = i64{i.sa()} - i.sb();
         return Out{cut(static_cast<u64>(x)), x != static_cast<int32_t>(x)};
       }},
      {"s_mul_i32 s12, s8, s10", false, [](const In& i) { return Out{cut(u64{i.la()} * i.lb()), kKept}; }},
      {"s_mul_hi_u32 s12, s8, s10", false,
       [](const In& i) { return Out{u64{i.la()} * i.lb() >> 32, kKept}; }},
      {"s_mul_hi_i32 s12, s8, s10", false,
       [](const In& i) { return Out{cut(static_cast<u64>(i64{i.sa()} * i.sb() >> 32)), kKept}; }},
      {"s_min_i32 s12, s8, s10", false,
       [](const In& i) { return Out{i.sa() < i.sb() ? i.la() : i.lb(), i.sa() < i.sb()}; }},
      {"s_max_u32 s12, s8, s10", false,
       [](const In& i) { return Out{i.la() > i.lb() ? i.la() : i.lb(), i.la() > i.lb()}; }},
      {"s_and_b32 s12, s8, s10", false, [](const In& i) { return logic(i.la() & i.lb()); }},
      {"s_andn2_b64 s[12:13], s[8:9], s[10:11]", true, [](const In& i) { return logic(i.a & ~i.b); }},
      {"s_xor_b64 s[12:13], s[8:9], s[10:11]", true, [](const In& i) { return logic(i.a ^ i.b); }},
      {"s_not_b32 s12, s8", false, [](const In& i) { return logic(cut(~i.a)); }},
      {"s_lshl_b32 s12, s8, s10", false, [](const In& i) { return logic(i.la() << (i.b & 31)); }},
      {"s_lshr_b64 s[12:13], s[8:9], s10", true, [](const In& i) { return logic(i.a >> (i.b & 63)); }},
      {"s_ashr_i32 s12, s8, s10", false,
       [](const In& i) { return logic(cut(static_cast<u64>(i.sa() >> (i.b & 31)))); }},
      {"s_ashr_i64 s[12:13], s[8:9], s10", true,
       [](const In& i) { return logic(static_cast<u64>(static_cast<i64>(i.a) >> (i.b & 63))); }},
      {"s_bfe_u32 s12, s8, s10", false,
       [](const In& i) {
         const u32 width = i.b >> 16 & 127, offset = i.b & 31;
         return logic(width >= 32 ? i.la() >> offset : i.la() >> offset & ((1ull << width) - 1));
       }},
      {"s_bfe_i32 s12, s8, 0x50003", false,
       [](const In& i) { return logic(cut(static_cast<u64>(static_cast<int32_t>(i.la() << 24) >> 27))); }},
      {"s_lshl3_add_u32 s12, s8, s10", false,
       [](const In& i) {
         const u64 x = (u64{i.la()} << 3) + i.lb();
         return Out{cut(x), x > ~0u};
       }},
      {"s_abs_i32 s12, s8", false, [](const In& i) { return logic(i.sa() < 0 ? cut(0 - i.a) : i.la()); }},
      {"s_cselect_b32 s12, s8, s10", false, [](const In& i) { return Out{i.scc ? i.la() : i.lb(), kKept}; }},
      {"s_cselect_b64 s[12:13], s[8:9], 1.0", true,
       [](const In& i) { return Out{i.scc ? i.a : 0x3ff0000000000000ull, kKept}; }},
      {"s_brev_b32 s12, s8", false,
       [](const In& i) {
         u32 x = 0;
         for (int n = 0; n < 32; ++n) x |= (i.la() >> n & 1) << (31 - n);
         return Out{x, kKept};
       }},
      {"s_ff1_i32_b64 s12, s[8:9]", false,
       [](const In& i) { return Out{i.a ? cut(std::countr_zero(i.a)) : ~0u, kKept}; }},
      {"s_flbit_i32_b32 s12, s8", false,
       [](const In& i) { return Out{i.la() ? cut(std::countl_zero(i.la())) : ~0u, kKept}; }},
      {"s_bcnt1_i32_b64 s12, s[8:9]", false,
       [](const In& i) { return logic(static_cast<u64>(std::popcount(i.a))); }},
      {"s_sext_i32_i16 s12, s8", false,
       [](const In& i) { return Out{cut(static_cast<u64>(static_cast<int16_t>(i.a))), kKept}; }},
      {"s_pack_ll_b32_b16 s12, s8, s10", false,
       [](const In& i) { return Out{cut((i.a & 0xffff) | i.b << 16), kKept}; }},
      {"s_mov_b64 s[12:13], 0x80000000", true, [](const In&) { return Out{0x80000000ull, kKept}; }},
      {"s_mov_b64 s[12:13], -1", true, [](const In&) { return Out{~0ull, kKept}; }},
      {"s_movk_i32 s12, 0x8001", false, [](const In&) { return Out{0xffff8001u, kKept}; }},
      {"s_cmp_lt_i32 s8, s10", false, [](const In& i) { return Out{0, i.sa() < i.sb()}; }},
      {"s_cmp_ge_u32 s8, s10", false, [](const In& i) { return Out{0, i.la() >= i.lb()}; }},
      {"s_cmp_lg_u64 s[8:9], s[10:11]", false, [](const In& i) { return Out{0, i.a != i.b}; }},
      {"s_cmpk_gt_i32 s8, 0xfff0", false, [](const In& i) { return Out{0, i.sa() > -16}; }},
      {"s_cmpk_gt_u32 s8, 0xfff0", false, [](const In& i) { return Out{0, i.la() > 0xfff0}; }},
      {"s_bitcmp1_b32 s8, s10", false,
       [](const In& i) { return Out{0, static_cast<int>(i.la() >> (i.b & 31) & 1)}; }},
  };
}

}  // namespace cdna::test::scalar
