// Scalar arithmetic and logic.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "instructions/operands.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

// A function's result and what becomes of SCC.
template <class T>
struct With {
  T value;
  bool scc;
};

template <class T>
T read(const Wave& w, const Operand& o) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(read_scalar64(w, o));
  else
    return static_cast<T>(read_scalar(w, o));
}

template <class T>
void write(Wave& w, const Operand& o, T x) {
  if constexpr (sizeof(T) == 8)
    w.set_pair(o.index, static_cast<u64>(x));
  else
    w.s[o.index] = static_cast<u32>(x);
}

template <class F>
struct Scalar;
template <class F, class R, class... A>
struct Scalar<R (F::*)(A...) const> {
  template <auto op, size_t... n>
  static R call(const Wave& w, const Instruction& i, std::index_sequence<n...>) {
    return op(read<A>(w, i.operand[1 + n])...);
  }
  using Result = R;
  static constexpr int kSources = sizeof...(A);
  static constexpr bool kWide = ((sizeof(A) == 8) || ...);
};

template <auto op>
using ScalarOf = Scalar<decltype(&decltype(op)::operator())>;

enum class Scc : uint8_t { kept, not_zero };

template <auto op, Scc scc>
void run(Wave& w, const Instruction& i) {
  using S = ScalarOf<op>;
  const auto r = S::template call<op>(w, i, std::make_index_sequence<S::kSources>());
  write(w, i.operand[0], r);
  if (scc == Scc::not_zero) w.scc = r != 0;
}

template <auto op>
void run_with_scc(Wave& w, const Instruction& i) {
  using S = ScalarOf<op>;
  const auto r = S::template call<op>(w, i, std::make_index_sequence<S::kSources>());
  write(w, i.operand[0], r.value);
  w.scc = r.scc;
}

Definition make(const char* name, Handler handler, bool wide = false) {
  Definition d{name, handler, Class::scalar};
  d.sources.fill(wide ? Type::unsigned64 : Type::bits);
  return d;
}

// SCC is left alone.
template <auto op>
Definition plain(const char* name) {
  return make(name, run<op, Scc::kept>, ScalarOf<op>::kWide);
}
// SCC says whether the result is not zero.
template <auto op>
Definition logic(const char* name) {
  return make(name, run<op, Scc::not_zero>, ScalarOf<op>::kWide);
}
// The function says.
template <auto op>
Definition carrying(const char* name) {
  return make(name, run_with_scc<op>, ScalarOf<op>::kWide);
}

With<u32> add_signed(u32 a, u32 b) {
  i32 r;
  const bool over = __builtin_add_overflow(static_cast<i32>(a), static_cast<i32>(b), &r);
  return {static_cast<u32>(r), over};
}
With<u32> sub_signed(u32 a, u32 b) {
  i32 r;
  const bool over = __builtin_sub_overflow(static_cast<i32>(a), static_cast<i32>(b), &r);
  return {static_cast<u32>(r), over};
}

With<u32> add_carry(u32 a, u32 b) { return {a + b, a + b < a}; }
With<u32> sub_borrow(u32 a, u32 b) { return {a - b, b > a}; }
With<u32> shift_add(u32 a, u32 b, int by) {
  const u64 x = (static_cast<u64>(a) << by) + b;
  return {static_cast<u32>(x), x >> 32 != 0};
}
template <class T>
With<T> smaller(T a, T b) {
  return {a < b ? a : b, a < b};
}
template <class T>
With<T> larger(T a, T b) {
  return {a > b ? a : b, a > b};
}

void s_addc_u32(Wave& w, const Instruction& i) {
  const u64 x = static_cast<u64>(read_scalar(w, i.operand[1])) + read_scalar(w, i.operand[2]) + w.scc;
  w.s[i.operand[0].index] = static_cast<u32>(x);
  w.scc = x >> 32;
}
void s_subb_u32(Wave& w, const Instruction& i) {
  const u64 x = static_cast<u64>(read_scalar(w, i.operand[1])) - read_scalar(w, i.operand[2]) - w.scc;
  w.s[i.operand[0].index] = static_cast<u32>(x);
  w.scc = x >> 63;
}

template <class T>
void select(Wave& w, const Instruction& i) {
  write(w, i.operand[0], read<T>(w, i.operand[w.scc ? 1 : 2]));
}
template <class T>
void move_if(Wave& w, const Instruction& i) {
  if (w.scc) write(w, i.operand[0], read<T>(w, i.operand[1]));
}
void s_cmovk_i32(Wave& w, const Instruction& i) {
  if (w.scc) w.s[i.operand[0].index] = static_cast<u32>(static_cast<int16_t>(i.immediate));
}
void s_movk_i32(Wave& w, const Instruction& i) {
  w.s[i.operand[0].index] = static_cast<u32>(static_cast<int16_t>(i.immediate));
}
void s_addk_i32(Wave& w, const Instruction& i) {
  u32& d = w.s[i.operand[0].index];
  const With<u32> r = add_signed(d, static_cast<u32>(static_cast<int16_t>(i.immediate)));
  d = r.value;
  w.scc = r.scc;
}
void s_mulk_i32(Wave& w, const Instruction& i) {
  w.s[i.operand[0].index] *= static_cast<u32>(static_cast<int16_t>(i.immediate));
}

// exec becomes op(source, exec); the destination gets the old exec.
template <auto op>
void save_exec(Wave& w, const Instruction& i) {
  const u64 source = read_scalar64(w, i.operand[1]), exec = w.exec(), next = op(source, exec);
  w.set_pair(i.operand[0].index, exec);
  w.set_pair(kExec, next);
  w.scc = next != 0;
}
// The same, but the destination gets the new exec.
template <auto op>
void write_exec(Wave& w, const Instruction& i) {
  const u64 next = op(read_scalar64(w, i.operand[1]), w.exec());
  w.set_pair(i.operand[0].index, next);
  w.set_pair(kExec, next);
  w.scc = next != 0;
}

void bit_set(Wave& w, const Instruction& i, bool value) {
  const u32 bit = read_scalar(w, i.operand[1]);
  if (i.operand[0].count == 2) {
    const u64 mask = 1ull << (bit & 63), old = w.pair(i.operand[0].index);
    w.set_pair(i.operand[0].index, value ? old | mask : old & ~mask);
  } else {
    u32& d = w.s[i.operand[0].index];
    d = value ? d | 1u << (bit & 31) : d & ~(1u << (bit & 31));
  }
}
void bit_clear_one(Wave& w, const Instruction& i) { bit_set(w, i, false); }
void bit_set_one(Wave& w, const Instruction& i) { bit_set(w, i, true); }

// The offset lies in bits 4:0 (5:0), the width in bits 22:16.
template <class T>
T field(T x, u32 where) {
  constexpr int kBits = sizeof(T) * 8;
  using U = std::make_unsigned_t<T>;
  const int offset = static_cast<int>(where & (kBits - 1));
  const int width = static_cast<int>(where >> 16 & 127);
  if (width == 0) return 0;
  const U moved = static_cast<U>(x) >> offset;
  if (width >= kBits) return static_cast<T>(x >> offset);
  const U cut = moved & ((U{1} << width) - 1);
  if constexpr (std::is_unsigned_v<T>) return cut;
  const int top = std::min(width, kBits - offset);  // bits beyond the word repeat its sign
  return static_cast<T>(cut << (kBits - top)) >> (kBits - top);
}

template <class T>
T reversed(T x) {
  T out = 0;
  for (unsigned n = 0; n < sizeof(T) * 8; ++n) out |= (x >> n & 1) << (sizeof(T) * 8 - 1 - n);
  return out;
}

// Every group of four (or each bit) that is not zero.
template <class T>
T quads(T x) {
  T out = 0;
  for (unsigned n = 0; n < sizeof(T) * 8; n += 4) out |= (x >> n & 15 ? T{15} : T{0}) << n;
  return out;
}

i32 sign_bits(u64 x, int bits) {
  for (int n = 1; n < bits; ++n)
    if ((x >> (bits - 1 - n) & 1) != (x >> (bits - 1) & 1)) return n;
  return -1;
}

void add_moves(Definitions& all) {
  all.insert(all.end(), {
                            plain<[](u32 a) { return a; }>("s_mov_b32"),
                            plain<[](u64 a) { return a; }>("s_mov_b64"),
                            make("s_cmov_b32", move_if<u32>),
                            make("s_cmov_b64", move_if<u64>, true),
                            make("s_cselect_b32", select<u32>),
                            make("s_cselect_b64", select<u64>, true),
                            make("s_movk_i32", s_movk_i32),
                            make("s_cmovk_i32", s_cmovk_i32),
                            make("s_addk_i32", s_addk_i32),
                            make("s_mulk_i32", s_mulk_i32),
                            make("s_bitset0_b32", bit_clear_one),
                            make("s_bitset1_b32", bit_set_one),
                            make("s_bitset0_b64", bit_clear_one),
                            make("s_bitset1_b64", bit_set_one),
                        });
  for (Definition& d : all)
    for (const char* name : {"s_cmov_b32", "s_cmov_b64", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32",
                             "s_bitset0_b32", "s_bitset1_b32", "s_bitset0_b64", "s_bitset1_b64"})
      if (d.name == name) d.accumulates = true;
}

void add_arithmetic(Definitions& all) {
  all.insert(
      all.end(),
      {
          carrying<[](u32 a, u32 b) { return add_carry(a, b); }>("s_add_u32"),
          carrying<[](u32 a, u32 b) { return sub_borrow(a, b); }>("s_sub_u32"),
          carrying<[](u32 a, u32 b) { return add_signed(a, b); }>("s_add_i32"),
          carrying<[](u32 a, u32 b) { return sub_signed(a, b); }>("s_sub_i32"),
          make("s_addc_u32", s_addc_u32),
          make("s_subb_u32", s_subb_u32),
          plain<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"),
          plain<[](u32 a, u32 b) { return (static_cast<u32>(static_cast<u64>(a) * b >> 32)); }>(
              "s_mul_hi_u32"),
          plain<[](i32 a, i32 b) { return (static_cast<u32>(static_cast<i64>(a) * b >> 32)); }>(
              "s_mul_hi_i32"),
          carrying<[](i32 a, i32 b) { return smaller(a, b); }>("s_min_i32"),
          carrying<[](i32 a, i32 b) { return larger(a, b); }>("s_max_i32"),
          carrying<[](u32 a, u32 b) { return smaller(a, b); }>("s_min_u32"),
          carrying<[](u32 a, u32 b) { return larger(a, b); }>("s_max_u32"),
          logic<[](i32 a) { return a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a); }>("s_abs_i32"),
          logic<[](i32 a, i32 b) {
            const u32 d = static_cast<u32>(a) - static_cast<u32>(b);
            return static_cast<i32>(d) < 0 ? 0u - d : d;
          }>("s_absdiff_i32"),
          plain<[](u32 a) { return static_cast<i32>(static_cast<int8_t>(a)); }>("s_sext_i32_i8"),
          plain<[](u32 a) { return static_cast<i32>(static_cast<int16_t>(a)); }>("s_sext_i32_i16"),
      });
  all.push_back(carrying<[](u32 a, u32 b) { return shift_add(a, b, 1); }>("s_lshl1_add_u32"));
  all.push_back(carrying<[](u32 a, u32 b) { return shift_add(a, b, 2); }>("s_lshl2_add_u32"));
  all.push_back(carrying<[](u32 a, u32 b) { return shift_add(a, b, 3); }>("s_lshl3_add_u32"));
  all.push_back(carrying<[](u32 a, u32 b) { return shift_add(a, b, 4); }>("s_lshl4_add_u32"));
}

template <class T>
void add_logic(Definitions& all, const std::string& bits) {
  const auto name = [&bits](const char* what) { return what + bits; };
  all.push_back(logic<[](T a, T b) { return a & b; }>(name("s_and_b").c_str()));
  all.push_back(logic<[](T a, T b) { return a | b; }>(name("s_or_b").c_str()));
  all.push_back(logic<[](T a, T b) { return a ^ b; }>(name("s_xor_b").c_str()));
  all.push_back(logic<[](T a, T b) { return a & ~b; }>(name("s_andn2_b").c_str()));
  all.push_back(logic<[](T a, T b) { return a | ~b; }>(name("s_orn2_b").c_str()));
  all.push_back(logic<[](T a, T b) { return ~(a & b); }>(name("s_nand_b").c_str()));
  all.push_back(logic<[](T a, T b) { return ~(a | b); }>(name("s_nor_b").c_str()));
  all.push_back(logic<[](T a, T b) { return ~(a ^ b); }>(name("s_xnor_b").c_str()));
  all.push_back(logic<[](T a) { return ~a; }>(name("s_not_b").c_str()));
  all.push_back(logic<[](T a) { return quads(a); }>(name("s_wqm_b").c_str()));
  constexpr u32 kMask = sizeof(T) * 8 - 1;
  all.push_back(logic<[](T a, u32 b) { return static_cast<T>(a << (b & kMask)); }>(name("s_lshl_b").c_str()));
  all.push_back(
      logic<[](T a, u32 b) { return (static_cast<T>(a >> (b & kMask))); }>(name("s_lshr_b").c_str()));
  using I = std::make_signed_t<T>;
  all.push_back(
      logic<[](I a, u32 b) { return (static_cast<I>(a >> (b & kMask))); }>(name("s_ashr_i").c_str()));
  all.push_back(logic<[](T a, u32 b) { return (field<T>(a, b)); }>(name("s_bfe_u").c_str()));
  all.push_back(logic<[](I a, u32 b) { return (field<I>(a, b)); }>(name("s_bfe_i").c_str()));
  all.push_back(
      plain<[](u32 a, u32 b) { return static_cast<T>(((T{1} << (a & kMask)) - 1) << (b & kMask)); }>(
          name("s_bfm_b").c_str()));
  all.push_back(plain<[](T a) { return reversed(a); }>(name("s_brev_b").c_str()));
  all.push_back(logic<[](T a) { return static_cast<i32>(sizeof(T) * 8) - std::popcount(a); }>(
      name("s_bcnt0_i32_b").c_str()));
  all.push_back(logic<[](T a) { return std::popcount(a); }>(name("s_bcnt1_i32_b").c_str()));
  all.push_back(plain<[](T a) { return ~a ? std::countr_one(a) : -1; }>(name("s_ff0_i32_b").c_str()));
  all.push_back(plain<[](T a) { return a ? std::countr_zero(a) : -1; }>(name("s_ff1_i32_b").c_str()));
  all.push_back(plain<[](T a) { return a ? std::countl_zero(a) : -1; }>(name("s_flbit_i32_b").c_str()));
}

void add_exec(Definitions& all) {
  const auto add = [&all](const char* name, Handler handler) {
    Definition d = make(name, handler, true);
    all.push_back(d);
  };
  add("s_and_saveexec_b64", save_exec<[](u64 s, u64 e) { return s & e; }>);
  add("s_or_saveexec_b64", save_exec<[](u64 s, u64 e) { return s | e; }>);
  add("s_xor_saveexec_b64", save_exec<[](u64 s, u64 e) { return s ^ e; }>);
  add("s_andn2_saveexec_b64", save_exec<[](u64 s, u64 e) { return s & ~e; }>);
  add("s_orn2_saveexec_b64", save_exec<[](u64 s, u64 e) { return s | ~e; }>);
  add("s_nand_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s & e); }>);
  add("s_nor_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s | e); }>);
  add("s_xnor_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s ^ e); }>);
  add("s_andn1_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~s & e; }>);
  add("s_orn1_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~s | e; }>);
  add("s_andn1_wrexec_b64", write_exec<[](u64 s, u64 e) { return ~s & e; }>);
  add("s_andn2_wrexec_b64", write_exec<[](u64 s, u64 e) { return s & ~e; }>);
}

}  // namespace

Definitions scalar_alu() {
  Definitions all;
  add_moves(all);
  add_arithmetic(all);
  add_logic<u32>(all, "32");
  add_logic<u64>(all, "64");
  add_exec(all);
  all.insert(all.end(),
             {
                 plain<[](u32 a) { return sign_bits(a, 32); }>("s_flbit_i32"),
                 plain<[](u64 a) { return sign_bits(a, 64); }>("s_flbit_i32_i64"),
                 plain<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"),
                 plain<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"),
                 plain<[](u32 a, u32 b) { return (a >> 16 | (b & 0xffff0000)); }>("s_pack_hh_b32_b16"),
             });
  return all;
}

}  // namespace cdna
