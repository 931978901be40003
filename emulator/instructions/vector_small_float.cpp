// Conversions to and from fp8, bf8 and fp4: gfx942 has the FNUZ formats, gfx950 the OCP ones and scales.
#include "instructions/vector.hpp"

namespace cdna {
namespace {

constexpr uint8_t kNotGfx90a = only(Arch::gfx942) | only(Arch::gfx950);

enum class Small : uint8_t { fp8, bf8, fp4 };

const Format& format_of(const Wave& w, Small small) {
  if (small == Small::fp4) return kE2m1;
  const bool fnuz = w.arch == Arch::gfx942;
  if (small == Small::fp8) return fnuz ? kE4m3Fnuz : kE4m3;
  return fnuz ? kE5m2Fnuz : kE5m2;
}

bool overflow_saturates(const Wave& w) { return w.mode >> 23 & 1; }

constexpr int bits_of(Small small) { return small == Small::fp4 ? 4 : 8; }

// E8M0: the exponent field of a float, as the power of two it stands for.
double scale_of(uint32_t bits) {
  const uint32_t e = bits >> 23 & 0xff;
  return e == 255 ? std::nan("") : std::ldexp(1.0, static_cast<int>(e) - 127);
}

float element(const Format& f, uint32_t word, int n, int bits) {
  return widen(word >> (bits * n) & ((1u << bits) - 1), f);
}

// op_sel's bits 2 and 3 name the byte (one number) or the half (two) of the destination that is written.
void place(Wave& w, const Instruction& i, const Row32& value, int shift, uint32_t mask) {
  Row32 out;
  const uint32_t* old = w.v[i.operand[0].index];
  for (int l = 0; l < kLanes; ++l) out.x[l] = (old[l] & ~(mask << shift)) | (value.x[l] & mask) << shift;
  write_row(w, i.operand[0].index, out.x, w.exec());
}

int byte_shift(const Instruction& i) { return 8 * (i.modifiers.op_sel >> 2 & 3); }
int half_shift(const Instruction& i) { return i.modifiers.op_sel >> 2 ? 16 : 0; }

template <Small small>
void pack_two(Wave& w, const Instruction& i) {
  Lanes<float> room[2];
  const float* a = fetch<float>(w, i, i.operand[1], 0, room[0]);
  const float* b = fetch<float>(w, i, i.operand[2], 1, room[1]);
  const Format& f = format_of(w, small);
  Row32 out;
  for (int l = 0; l < kLanes; ++l)
    out.x[l] = narrow(a[l], f, overflow_saturates(w)) | narrow(b[l], f, overflow_saturates(w)) << 8;
  place(w, i, out, half_shift(i), 0xffff);
}

template <Small small>
void round_stochastic(Wave& w, const Instruction& i) {
  Lanes<float> room;
  Row32 seeds, out;
  const float* a = fetch<float>(w, i, i.operand[1], 0, room);
  const uint32_t* seed = read_row(w, i.operand[2], seeds);
  const Format& f = format_of(w, small);
  for (int l = 0; l < kLanes; ++l) out.x[l] = narrow_stochastic(a[l], f, overflow_saturates(w), seed[l]);
  place(w, i, out, byte_shift(i), 0xff);
}

// Noise below the bits that stay, then cut: to fp16 or bf16, into the half that op_sel names.
template <class T>
void round_stochastic_wide(Wave& w, const Instruction& i) {
  constexpr int kCut = std::is_same_v<T, half> ? 13 : 16;
  Lanes<float> room;
  Row32 seeds, out;
  const float* a = fetch<float>(w, i, i.operand[1], 0, room);
  const uint32_t* seed = read_row(w, i.operand[2], seeds);
  for (int l = 0; l < kLanes; ++l) {
    const bool finite = std::isfinite(a[l]);
    const uint32_t bits = as_bits(a[l]) + (finite ? seed[l] >> (32 - kCut) : 0);
    const float cut = as_float(bits >> kCut << kCut);
    out.x[l] = std::is_same_v<T, half> ? to_half(cut) : to_brain(finite ? cut : a[l]);
  }
  place(w, i, out, i.modifiers.op_sel & 8 ? 16 : 0, 0xffff);
}

// Which byte or word of the source: SDWA has moved it down already, VOP3 says it by op_sel.
int source_byte(const Instruction& i) { return i.modifiers.op_sel & 3; }

template <Small small>
void unpack_one(Wave& w, const Instruction& i) {
  Row32 room;
  Lanes<float> out;
  const uint32_t* a = read_row(w, i.operand[1], room);
  const Format& f = format_of(w, small);
  for (int l = 0; l < kLanes; ++l) out.x[l] = element(f, a[l], source_byte(i), 8);
  store<float>(w, i, out, 1);
}

template <class T>
void write_pair(Wave& w, const Instruction& i, const Lanes<float>& low, const Lanes<float>& high) {
  const int row = i.operand[0].index;
  Row32 out[2];
  for (int l = 0; l < kLanes; ++l) {
    if constexpr (std::is_same_v<T, float>) {
      out[0].x[l] = as_bits(low.x[l]);
      out[1].x[l] = as_bits(high.x[l]);
    } else if constexpr (std::is_same_v<T, half>) {
      out[0].x[l] = to_half(low.x[l]) | static_cast<uint32_t>(to_half(high.x[l])) << 16;
    } else {
      out[0].x[l] = to_brain(low.x[l]) | static_cast<uint32_t>(to_brain(high.x[l])) << 16;
    }
  }
  write_row(w, row, out[0].x, w.exec());
  if constexpr (std::is_same_v<T, float>) write_row(w, row + 1, out[1].x, w.exec());
}

// Two numbers from a half word (fp4: a byte), times the scale if there is one.
template <Small small, class T, bool scaled>
void unpack_two(Wave& w, const Instruction& i) {
  Row32 room, room_scale;
  Lanes<float> low, high;
  const uint32_t* a = read_row(w, i.operand[1], room);
  const uint32_t* s = scaled ? read_row(w, i.operand[2], room_scale) : nullptr;
  const Format& f = format_of(w, small);
  constexpr int kBits = bits_of(small);
  const int shift = small == Small::fp4 ? 8 * source_byte(i) : 16 * (i.modifiers.op_sel & 1);
  for (int l = 0; l < kLanes; ++l) {
    const double scale = scaled ? scale_of(s[l]) : 1.0;
    low.x[l] = static_cast<float>(element(f, a[l] >> shift, 0, kBits) * scale);
    high.x[l] = static_cast<float>(element(f, a[l] >> shift, 1, kBits) * scale);
  }
  write_pair<T>(w, i, low, high);
}

template <Small small, class T>
void unpack_one_scaled(Wave& w, const Instruction& i) {
  Row32 room, room_scale;
  Lanes<T> out;
  const uint32_t* a = read_row(w, i.operand[1], room);
  const uint32_t* s = read_row(w, i.operand[2], room_scale);
  const Format& f = format_of(w, small);
  for (int l = 0; l < kLanes; ++l)
    out.x[l] = static_cast<float>(element(f, a[l], source_byte(i), 8) * scale_of(s[l]));
  if constexpr (std::is_same_v<T, half>) {
    Row32 bits;
    for (int l = 0; l < kLanes; ++l) bits.x[l] = to_half(out.x[l]);
    place(w, i, bits, i.modifiers.op_sel & 8 ? 16 : 0, 0xffff);
  } else {
    store<T>(w, i, out, 2);
  }
}

// Two numbers divided by the scale; sources are two floats, or one register of two halves or bf16.
template <Small small, class T>
void pack_two_scaled(Wave& w, const Instruction& i) {
  constexpr bool kSingles = std::is_same_v<T, float>;
  Lanes<float> room[2];
  Row32 words, scales, out;
  const float *a, *b;
  if constexpr (kSingles) {
    a = fetch<float>(w, i, i.operand[1], 0, room[0]);
    b = fetch<float>(w, i, i.operand[2], 1, room[1]);
  } else {
    const uint32_t* x = read_row(w, i.operand[1], words);
    for (int l = 0; l < kLanes; ++l) {
      const auto low = static_cast<uint16_t>(x[l]), high = static_cast<uint16_t>(x[l] >> 16);
      room[0].x[l] = std::is_same_v<T, half> ? from_half(low) : from_brain(low);
      room[1].x[l] = std::is_same_v<T, half> ? from_half(high) : from_brain(high);
    }
    a = room[0].x, b = room[1].x;
  }
  const uint32_t* s = read_row(w, i.operand[kSingles ? 3 : 2], scales);
  const Format& f = format_of(w, small);
  constexpr int kBits = bits_of(small);
  for (int l = 0; l < kLanes; ++l) {
    const double scale = scale_of(s[l]);
    out.x[l] = narrow(static_cast<float>(a[l] / scale), f, overflow_saturates(w)) |
               narrow(static_cast<float>(b[l] / scale), f, overflow_saturates(w)) << kBits;
  }
  if (small == Small::fp4)
    place(w, i, out, byte_shift(i), 0xff);
  else
    place(w, i, out, i.modifiers.op_sel & 8 ? 16 : 0, 0xffff);
}

Definition conversion(const std::string& name, Handler run, uint8_t archs, bool keeps) {
  Definition d{name, run, Class::conversion};
  d.sources.fill(Type::single);
  d.accumulates = keeps;
  d.only = archs;
  return d;
}

template <Small small, class T>
void add_scaled(Definitions& all, const std::string& small_name, const std::string& wide_name) {
  constexpr uint8_t kArch = only(Arch::gfx950);
  all.push_back(conversion("v_cvt_scalef32_pk_" + small_name + "_" + wide_name, pack_two_scaled<small, T>,
                           kArch, true));
  all.push_back(conversion("v_cvt_scalef32_pk_" + wide_name + "_" + small_name, unpack_two<small, T, true>,
                           kArch, false));
}

}  // namespace

Definitions vector_small_float() {
  Definitions all = {
      conversion("v_cvt_pk_fp8_f32", pack_two<Small::fp8>, kNotGfx90a, true),
      conversion("v_cvt_pk_bf8_f32", pack_two<Small::bf8>, kNotGfx90a, true),
      conversion("v_cvt_sr_fp8_f32", round_stochastic<Small::fp8>, kNotGfx90a, true),
      conversion("v_cvt_sr_bf8_f32", round_stochastic<Small::bf8>, kNotGfx90a, true),
      conversion("v_cvt_sr_f16_f32", round_stochastic_wide<half>, only(Arch::gfx950), true),
      conversion("v_cvt_sr_bf16_f32", round_stochastic_wide<brain>, only(Arch::gfx950), true),
      conversion("v_cvt_f32_fp8", unpack_one<Small::fp8>, kNotGfx90a, false),
      conversion("v_cvt_f32_bf8", unpack_one<Small::bf8>, kNotGfx90a, false),
      conversion("v_cvt_pk_f32_fp8", unpack_two<Small::fp8, float, false>, kNotGfx90a, false),
      conversion("v_cvt_pk_f32_bf8", unpack_two<Small::bf8, float, false>, kNotGfx90a, false),
      conversion("v_cvt_scalef32_f32_fp8", unpack_one_scaled<Small::fp8, float>, only(Arch::gfx950), false),
      conversion("v_cvt_scalef32_f32_bf8", unpack_one_scaled<Small::bf8, float>, only(Arch::gfx950), false),
      conversion("v_cvt_scalef32_f16_fp8", unpack_one_scaled<Small::fp8, half>, only(Arch::gfx950), true),
      conversion("v_cvt_scalef32_f16_bf8", unpack_one_scaled<Small::bf8, half>, only(Arch::gfx950), true),
  };
  add_scaled<Small::fp8, float>(all, "fp8", "f32");
  add_scaled<Small::fp8, half>(all, "fp8", "f16");
  add_scaled<Small::fp8, brain>(all, "fp8", "bf16");
  add_scaled<Small::bf8, float>(all, "bf8", "f32");
  add_scaled<Small::bf8, half>(all, "bf8", "f16");
  add_scaled<Small::bf8, brain>(all, "bf8", "bf16");
  add_scaled<Small::fp4, float>(all, "fp4", "f32");
  add_scaled<Small::fp4, half>(all, "fp4", "f16");
  add_scaled<Small::fp4, brain>(all, "fp4", "bf16");
  return all;
}

}  // namespace cdna
