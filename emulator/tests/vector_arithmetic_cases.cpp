// The instructions that kernels consist of, with their modifiers.
#include "vector_case.hpp"

namespace cdna::test {

Cases arithmetic_cases() {
  return {
      {"v_mov_b32 v20, v10", kWord, kEqual, [](const In& i) { return i.a & ~0u; }},
      {"v_add_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(i.fa() + i.fb()); }},
      {"v_mad_f32 v20, v10, v12, v14", kWord, kSingle,
       [](const In& i) { return mad(i.fa(), i.fb(), i.fc()); }},
      {"v_mac_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return mad(i.fa(), i.fb(), i.fd()); }},
      {"v_madmk_f32 v20, v10, 0x40490fdb, v12", kWord, kSingle,
       [](const In& i) { return mad(i.fa(), as_float(0x40490fdb), i.fb()); }},
      {"v_madak_f32 v20, v10, v12, 0x40490fdb", kWord, kSingle,
       [](const In& i) { return mad(i.fa(), i.fb(), as_float(0x40490fdb)); }},
      {"v_sub_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(i.fa() - i.fb()); }},
      {"v_subrev_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(i.fb() - i.fa()); }},
      {"v_mul_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(i.fa() * i.fb()); }},
      {"v_mul_f32 v20, -v10, |v12|", kWord, kSingle,
       [](const In& i) { return f(-i.fa() * std::abs(i.fb())); }},
      {"v_mul_f32 v20, 0.5, v12", kWord, kSingle, [](const In& i) { return f(0.5f * i.fb()); }},
      {"v_mul_f32 v20, 0x40490fdb, v12", kWord, kSingle,
       [](const In& i) { return f(as_float(0x40490fdb) * i.fb()); }},
      {"v_add_f32 v20, v10, v12 clamp", kWord, kSingle,
       [](const In& i) {
         const float x = i.fa() + i.fb();
         return f(!(x > 0) ? 0.0f : x > 1 ? 1.0f : x);
       }},
      {"v_max_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(fmax_ieee(i.fa(), i.fb())); }},
      {"v_min_f32 v20, v10, v12", kWord, kSingle, [](const In& i) { return f(fmin_ieee(i.fa(), i.fb())); }},
      {"v_max3_f32 v20, v10, v12, v14", kWord, kSingle,
       [](const In& i) { return f(fmax_ieee(fmax_ieee(i.fa(), i.fb()), i.fc())); }},
      {"v_min3_f32 v20, v10, v12, v14", kWord, kSingle,
       [](const In& i) { return f(fmin_ieee(fmin_ieee(i.fa(), i.fb()), i.fc())); }},
      {"v_fma_f32 v20, v10, v12, v14", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.fa(), i.fb(), i.fc())); }},
      {"v_fma_f32 v20, v10, -v12, |v14|", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.fa(), -i.fb(), std::abs(i.fc()))); }},
      {"v_fmac_f32 v20, v10, v12", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.fa(), i.fb(), i.fd())); }},
      {"v_trunc_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(std::trunc(i.fa())); }},
      {"v_floor_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(std::floor(i.fa())); }},
      {"v_ceil_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(std::ceil(i.fa())); }},
      {"v_rndne_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(std::nearbyint(i.fa())); }},
      {"v_ldexp_f32 v20, v10, 3", kWord, kSingle, [](const In& i) { return f(std::ldexp(i.fa(), 3)); }},
      {"v_exp_f32 v20, v10", kWord, kSingle,
       [](const In& i) { return f(flushed(static_cast<float>(std::exp2(static_cast<double>(i.fa()))))); }},
      {"v_log_f32 v20, v10", kWord, kSingle,
       [](const In& i) { return f(static_cast<float>(std::log2(static_cast<double>(flushed(i.fa()))))); }},
      {"v_rcp_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(flushed(1.0f / flushed(i.fa()))); }},
      {"v_rsq_f32 v20, v10", kWord, kSingle,
       [](const In& i) {
         return f(static_cast<float>(1 / std::sqrt(static_cast<double>(flushed(i.fa())))));
       }},
      {"v_sqrt_f32 v20, v10", kWord, kSingle, [](const In& i) { return f(std::sqrt(i.fa())); }},
      {"v_cvt_f16_f32 v20, v10", kWord, kHalf, [](const In& i) { return h(i.fa()); }},
      {"v_cvt_f32_f16 v20, v10", kWord, kSingle, [](const In& i) { return f(i.ha()); }},
      {"v_cvt_f32_u32 v20, v10", kWord, kEqual, [](const In& i) { return f(static_cast<float>(lo(i.a))); }},
      {"v_cvt_f32_i32 v20, v10", kWord, kEqual, [](const In& i) { return f(static_cast<float>(s(i.a))); }},
      {"v_cvt_u32_f32 v20, v10", kWord, kEqual, [](const In& i) { return u64{to_u32(i.fa())}; }},
      {"v_cvt_i32_f32 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(to_i32(i.fa())))}; }},
      {"v_cvt_f32_ubyte2 v20, v10", kWord, kEqual,
       [](const In& i) { return f(static_cast<float>(i.a >> 16 & 255)); }},
      {"v_cvt_pkrtz_f16_f32 v20, v10, v12", kWord, kHalves,
       [](const In& i) { return u64{half_down(i.fa()) | half_down(i.fb()) << 16}; }},
      {"v_cvt_pk_bf16_f32 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{bf16(i.fa()) | bf16(i.fb()) << 16}; }},
      {"v_cvt_pk_f16_f32 v20, v10, v12", kWord, kHalves, [](const In& i) { return hh(i.fa(), i.fb()); }},
      {"v_and_b32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a & i.b)}; }},
      {"v_or_b32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a | i.b)}; }},
      {"v_xor_b32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a ^ i.b)}; }},
      {"v_not_b32 v20, v10", kWord, kEqual, [](const In& i) { return u64{lo(~i.a)}; }},
      {"v_bfrev_b32 v20, v10", kWord, kEqual,
       [](const In& i) {
         u32 x = 0;
         for (int n = 0; n < 32; ++n) x |= static_cast<u32>(i.a >> n & 1) << (31 - n);
         return u64{x};
       }},
      {"v_add_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a + i.b)}; }},
      {"v_sub_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a - i.b)}; }},
      {"v_subrev_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.b - i.a)}; }},
      {"v_lshlrev_b32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.b) << (i.a & 31)}; }},
      {"v_lshrrev_b32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.b) >> (i.a & 31)}; }},
      {"v_ashrrev_i32 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(s(i.b) >> (i.a & 31)))}; }},
      {"v_mul_u32_u24 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{u24(i.a) * u24(i.b)}; }},
      {"v_mul_i32_i24 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(s24(i.a) * s24(i.b)))}; }},
      {"v_mul_hi_i32_i24 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(s24(i.a) * s24(i.b) >> 32))}; }},
      {"v_mul_lo_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a) * lo(i.b)}; }},
      {"v_mul_hi_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{lo(i.a)} * lo(i.b) >> 32; }},
      {"v_mul_hi_i32 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(i64{s(i.a)} * s(i.b) >> 32))}; }},
      {"v_min_i32 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(std::min(s(i.a), s(i.b))))}; }},
      {"v_max_u32 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{std::max(lo(i.a), lo(i.b))}; }},
      {"v_med3_i32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) {
         i32 x[] = {s(i.a), s(i.b), s(i.c)};
         std::sort(x, x + 3);
         return u64{lo(static_cast<u64>(x[1]))};
       }},
      {"v_add3_u32 v20, v10, v12, v14", kWord, kEqual, [](const In& i) { return u64{lo(i.a + i.b + i.c)}; }},
      {"v_lshl_add_u32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{(lo(i.a) << (i.b & 31)) + lo(i.c)}; }},
      {"v_add_lshl_u32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a + i.b) << (i.c & 31)}; }},
      {"v_lshl_or_b32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{(lo(i.a) << (i.b & 31)) | lo(i.c)}; }},
      {"v_and_or_b32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo((i.a & i.b) | i.c)}; }},
      {"v_or3_b32 v20, v10, v12, v14", kWord, kEqual, [](const In& i) { return u64{lo(i.a | i.b | i.c)}; }},
      {"v_xad_u32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo(lo(i.a ^ i.b) + i.c)}; }},
      {"v_bfe_u32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return (i.a & ~0u) >> (i.b & 31) & ((1ull << (i.c & 31)) - 1); }},
      {"v_bfe_i32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) {
         const int width = i.c & 31;
         if (!width) return u64{0};
         const u64 field = (i.a & ~0u) >> (i.b & 31) & ((1ull << width) - 1);
         return u64{lo(static_cast<u64>(static_cast<i64>(field << (64 - width)) >> (64 - width)))};
       }},
      {"v_bfi_b32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo((i.a & i.b) | (~i.a & i.c))}; }},
      {"v_alignbit_b32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo((i.a << 32 | lo(i.b)) >> (i.c & 31))}; }},
      {"v_perm_b32 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{perm(lo(i.a), lo(i.b), lo(i.c))}; }},
      {"v_perm_b32 v20, v10, v12, s9", kWord, kEqual,
       [](const In& i) { return u64{perm(lo(i.a), lo(i.b), 0x07020500)}; }},
      {"v_bitop3_b32 v20, v10, v12, v14 bitop3:0x6c", kWord, kEqual,
       [](const In& i) {
         u32 x = 0;
         for (int n = 0; n < 32; ++n)
           x |= (0x6cu >> ((i.a >> n & 1) * 4 + (i.b >> n & 1) * 2 + (i.c >> n & 1)) & 1) << n;
         return u64{x};
       }},
      {"v_mad_u32_u24 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{u24(i.a) * u24(i.b) + lo(i.c)}; }},
      {"v_mad_i32_i24 v20, v10, v12, v14", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(s24(i.a) * s24(i.b) + s(i.c)))}; }},
      {"v_ffbh_u32 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a) ? lo(std::countl_zero(lo(i.a))) : ~0u}; }},
      {"v_ffbl_b32 v20, v10", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a) ? lo(std::countr_zero(lo(i.a))) : ~0u}; }},
      {"v_bcnt_u32_b32 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo(std::popcount(lo(i.a)) + i.b)}; }},
      {"v_cndmask_b32 v20, v10, v12, vcc", kWord, kEqual,
       [](const In& i) { return u64{lo(i.vcc ? i.b : i.a)}; }},
      {"v_mov_b64 v[20:21], v[10:11]", kPair, kEqual, [](const In& i) { return i.a; }},
      {"v_lshlrev_b64 v[20:21], v12, v[10:11]", kPair, kEqual, [](const In& i) { return i.a << (i.b & 63); }},
      {"v_lshrrev_b64 v[20:21], v12, v[10:11]", kPair, kEqual, [](const In& i) { return i.a >> (i.b & 63); }},
      {"v_ashrrev_i64 v[20:21], v12, v[10:11]", kPair, kEqual,
       [](const In& i) { return static_cast<u64>(static_cast<i64>(i.a) >> (i.b & 63)); }},
      {"v_lshl_add_u64 v[20:21], v[10:11], 3, v[14:15]", kPair, kEqual,
       [](const In& i) { return (i.a << 3) + i.c; }},
      {"v_mad_u64_u32 v[20:21], vcc, v10, v12, v[14:15]", kPair, kEqual,
       [](const In& i) { return u64{lo(i.a)} * lo(i.b) + i.c; }},
      {"v_mad_i64_i32 v[20:21], vcc, v10, v12, v[14:15]", kPair, kEqual,
       [](const In& i) { return static_cast<u64>(i64{s(i.a)} * s(i.b)) + i.c; }},
      {"v_add_co_u32 v20, vcc, v10, v12", kMask, kEqual,
       [](const In& i) { return (u64{lo(i.a)} + lo(i.b)) >> 32; }},
      {"v_addc_co_u32 v20, vcc, v10, v12, vcc", kMask, kEqual,
       [](const In& i) { return (u64{lo(i.a)} + lo(i.b) + i.vcc) >> 32; }},
      {"v_subb_co_u32 v20, vcc, v10, v12, vcc", kMask, kEqual,
       [](const In& i) { return u64{u64{lo(i.b)} + i.vcc > lo(i.a)}; }},
      {"v_addc_co_u32 v20, vcc, v10, v12, vcc", kWord, kEqual,
       [](const In& i) { return u64{lo(i.a + i.b + i.vcc)}; }},
      {"v_cmp_lt_f32 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{i.fa() < i.fb()}; }},
      {"v_cmp_nlt_f32 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{!(i.fa() < i.fb())}; }},
      {"v_cmp_lg_f32 vcc, v10, v12", kMask, kEqual,
       [](const In& i) { return u64{i.fa() < i.fb() || i.fa() > i.fb()}; }},
      {"v_cmp_u_f32 vcc, v10, v12", kMask, kEqual,
       [](const In& i) { return u64{std::isnan(i.fa()) || std::isnan(i.fb())}; }},
      {"v_cmp_neq_f32 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{!(i.fa() == i.fb())}; }},
      {"v_cmp_ge_i32 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{s(i.a) >= s(i.b)}; }},
      {"v_cmp_gt_u32 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{lo(i.a) > lo(i.b)}; }},
      {"v_cmp_le_u64 vcc, v[10:11], v[12:13]", kMask, kEqual, [](const In& i) { return u64{i.a <= i.b}; }},
      {"v_cmp_lt_i16 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{s16(i.a) < s16(i.b)}; }},
      {"v_cmp_gt_f16 vcc, v10, v12", kMask, kEqual, [](const In& i) { return u64{i.ha() > i.hb()}; }},
      {"v_cmp_lt_f64 vcc, v[10:11], v[12:13]", kMask, kEqual,
       [](const In& i) { return u64{i.da() < i.db()}; }},
      {"v_cmp_class_f32 vcc, v10, v12", kMask, kEqual,
       [](const In& i) {
         const u32 x = lo(i.a), e = x >> 23 & 255, m = x & 0x7fffff;
         const int negative = static_cast<int>(x >> 31);
         int bit;
         if (e == 255 && m)
           bit = m >> 22 ? 1 : 0;
         else if (e == 255)
           bit = negative ? 2 : 9;
         else if (e)
           bit = negative ? 3 : 8;
         else if (m)
           bit = negative ? 4 : 7;
         else
           bit = negative ? 5 : 6;
         return i.b >> bit & 1;
       }},
      {"v_add_f16 v20, v10, v12", kWord, kHalf, [](const In& i) { return h(double{i.ha()} + i.hb()); }},
      {"v_mul_f16 v20, v10, v12", kWord, kHalf, [](const In& i) { return h(double{i.ha()} * i.hb()); }},
      {"v_mul_f16 v20, 0.5, v12", kWord, kHalf, [](const In& i) { return h(0.5 * i.hb()); }},
      {"v_fma_f16 v20, v10, v12, v14", kWord, kHalf,
       [](const In& i) { return h(double{i.ha()} * i.hb() + i.hc()) | (i.d & 0xffff0000); }},
      {"v_max_f16 v20, v10, v12", kWord, kHalf, [](const In& i) { return h(fmax_ieee(i.ha(), i.hb())); }},
      {"v_add_u16 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{u16(i.a + i.b)}; }},
      {"v_mul_lo_u16 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{u16(i.a * i.b)}; }},
      {"v_lshlrev_b16 v20, v10, v12", kWord, kEqual, [](const In& i) { return u64{u16(i.b << (i.a & 15))}; }},
      {"v_ashrrev_i16 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{u16(static_cast<u64>(s16(i.b) >> (i.a & 15)))}; }},
      {"v_pack_b32_f16 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{lo((i.a & 0xffff) | i.b << 16)}; }},
      {"v_pk_add_f16 v20, v10, v12", kWord, kHalves,
       [](const In& i) { return hh(double{i.ha()} + i.hb(), double{i.ha(1)} + i.hb(1)); }},
      {"v_pk_mul_f16 v20, v10, v12 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]", kWord, kHalves,
       [](const In& i) { return hh(double{i.ha(1)} * -i.hb(0), double{i.ha(0)} * i.hb(1)); }},
      {"v_pk_fma_f16 v20, v10, v12, v14", kWord, kHalves,
       [](const In& i) { return hh(double{i.ha()} * i.hb() + i.hc(), double{i.ha(1)} * i.hb(1) + i.hc(1)); }},
      {"v_pk_add_u16 v20, v10, v12", kWord, kEqual,
       [](const In& i) { return u64{u16(i.a + i.b)} | u64{u16((i.a >> 16) + (i.b >> 16))} << 16; }},
      {"v_pk_mul_f32 v[20:21], v[10:11], v[12:13] op_sel:[0,1] op_sel_hi:[1,0]", kPair, kSingles,
       [](const In& i) {
         const auto part = [](u64 x, int n) { return as_float(static_cast<u32>(x >> (32 * n))); };
         return f(part(i.a, 0) * part(i.b, 1)) | f(part(i.a, 1) * part(i.b, 0)) << 32;
       }},
      {"v_pk_mov_b32 v[20:21], v[10:11], v[12:13] op_sel:[1,0]", kPair, kEqual,
       [](const In& i) { return i.a >> 32 | i.b << 32; }},
      {"v_fma_mix_f32 v20, v10, v12, v14 op_sel:[1,0,0] op_sel_hi:[1,0,1]", kWord, kSingle,
       [](const In& i) { return f(std::fma(i.ha(1), i.fb(), i.hc())); }},
      {"v_fma_mixlo_f16 v20, v10, v12, v14", kWord, kHalf,
       [](const In& i) { return h(std::fma(i.fa(), i.fb(), i.fc())) | (i.d & 0xffff0000); }},
      {"v_fma_mixhi_f16 v20, v10, v12, v14", kWord, kHalves,
       [](const In& i) { return h(std::fma(i.fa(), i.fb(), i.fc())) << 16 | (i.d & 0xffff); }},
      {"v_add_f64 v[20:21], v[10:11], v[12:13]", kPair, kDouble,
       [](const In& i) { return d(i.da() + i.db()); }},
      {"v_mul_f64 v[20:21], v[10:11], -v[12:13]", kPair, kDouble,
       [](const In& i) { return d(i.da() * -i.db()); }},
      {"v_fma_f64 v[20:21], v[10:11], v[12:13], v[14:15]", kPair, kDouble,
       [](const In& i) { return d(std::fma(i.da(), i.db(), i.dc())); }},
      {"v_cvt_f64_f32 v[20:21], v10", kPair, kDouble, [](const In& i) { return d(i.fa()); }},
      {"v_cvt_f32_f64 v20, v[10:11]", kWord, kSingle,
       [](const In& i) { return f(static_cast<float>(i.da())); }},
      {"v_cvt_i32_f64 v20, v[10:11]", kWord, kEqual,
       [](const In& i) { return u64{lo(static_cast<u64>(to_i32(i.da())))}; }},
      {"v_add_u32_sdwa v20, v10, v12 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
       kWord, kEqual, [](const In& i) { return (i.a >> 8 & 255) + (i.b >> 16 & 0xffff); }},
      {"v_mov_b32_sdwa v20, sext(v10) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", kWord,
       kEqual,
       [](const In& i) {
         return u64{u16(static_cast<u64>(static_cast<int8_t>(i.a)))} << 16 | (i.d & 0xffff);
       }},
  };
}

}  // namespace cdna::test
