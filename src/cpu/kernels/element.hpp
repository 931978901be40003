// Element types of tensors: how a row of them becomes floats and back.
#pragma once

#include "cpu/simd/simd.hpp"
#include "meaning/args.hpp"

namespace fw::FLASHWAVE_TARGET {

struct Fp32 {
  using Stored = float;
  static FLASHWAVE_RULE Vec widen(const float* p) { return load(p); }
  static FLASHWAVE_RULE float widen_one(float x) { return x; }
  static FLASHWAVE_RULE void narrow(float* p, Vec x) { store(p, x); }
  static FLASHWAVE_RULE float narrow_one(float x) { return x; }
};

struct Fp16 {
  using Stored = Half;
  static FLASHWAVE_RULE Vec widen(const Half* p) { return load_fp16(p); }
  static FLASHWAVE_RULE float widen_one(Half x) { return widen_fp16(x); }
  static FLASHWAVE_RULE void narrow(Half* p, Vec x) { store_fp16(p, x); }
  static FLASHWAVE_RULE Half narrow_one(float x) { return narrow_fp16(x); }
};

struct Bf16 {
  using Stored = Half;
  static FLASHWAVE_RULE Vec widen(const Half* p) { return load_bf16(p); }
  static FLASHWAVE_RULE float widen_one(Half x) { return widen_bf16(x); }
  static FLASHWAVE_RULE void narrow(Half* p, Vec x) { store_bf16(p, x); }
  static FLASHWAVE_RULE Half narrow_one(float x) { return narrow_bf16(x); }
};

template <class E>
FLASHWAVE_RULE void widen_row(float* out, const typename E::Stored* in, int count) {
  int i = 0;
  for (; i + lanes <= count; i += lanes) store(out + i, E::widen(in + i));
  for (; i < count; ++i) out[i] = E::widen_one(in[i]);
}

template <class E>
FLASHWAVE_RULE void narrow_row(typename E::Stored* out, const float* in, int count) {
  int i = 0;
  for (; i + lanes <= count; i += lanes) E::narrow(out + i, load(in + i));
  for (; i < count; ++i) out[i] = E::narrow_one(in[i]);
}

// A value whose type is known at run time only: biases and sinks.
FLASHWAVE_RULE float value_at(const void* data, Element element, i64 index) {
  switch (element) {
    case Element::fp16: return widen_fp16(((const Half*)data)[index]);
    case Element::bf16: return widen_bf16(((const Half*)data)[index]);
    case Element::uint8: return ((const unsigned char*)data)[index] ? 0.0f : -infinity;
    default: return ((const float*)data)[index];
  }
}

// Neighbouring values of such a tensor.
FLASHWAVE_RULE void widen_values(float* out, const void* data, Element element, i64 index, int count) {
  switch (element) {
    case Element::fp16: return widen_row<Fp16>(out, (const Half*)data + index, count);
    case Element::bf16: return widen_row<Bf16>(out, (const Half*)data + index, count);
    case Element::uint8:
      for (int i = 0; i < count; ++i) out[i] = value_at(data, element, index + i);
      return;
    default: return widen_row<Fp32>(out, (const float*)data + index, count);
  }
}

}  // namespace fw::FLASHWAVE_TARGET
