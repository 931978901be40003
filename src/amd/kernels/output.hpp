// Where rows of out and lse go: to the call's tensors, or to a split's share of them.
#pragma once

#include "amd/kernels/element.hpp"
#include "amd/kernels/work.hpp"

namespace fw::FLASHWAVE_TARGET {

// The sink joins a row once: here, or where its splits are merged.
FLASHWAVE_DEVICE float sink_of(const AttentionLaunch& l, int head) {
  return l.args.sink && l.splits == 1 ? value_at(l.args.sink, l.args.sink_element, head) : -infinity;
}

struct OutputRow {
  void* data;
  i64 offset;
  float* lse;  // null = not wanted
  int dim;
  bool partial;  // fp32
  bool wide;     // up to 8 neighbouring values may be written at once
};

FLASHWAVE_DEVICE OutputRow output_row(const AttentionLaunch& l, const Sequence& s, int split, int query,
                                      int head) {
  const Args& a = l.args;
  if (l.splits > 1) {
    const i64 place = (((i64)split * a.batch + s.batch) * a.heads_q + head) * a.seq_q + query;
    return {l.partial_out, place * a.dim_v, l.partial_lse + place, a.dim_v, true, a.dim_v % 8 == 0};
  }
  float* const lse = a.lse.data ? (float*)a.lse.data + query_offset(a.lse, s, query, head) : nullptr;
  return {a.out.data, query_offset(a.out, s, query, head), lse, a.dim_v,
          false,      (l.aligned & amd::aligned_out) != 0};
}

FLASHWAVE_DEVICE void write_lse(const OutputRow& to, float lse) {
  if (to.lse) *(FLASHWAVE_GLOBAL float*)to.lse = lse;
}

template <class E, int Count>
FLASHWAVE_DEVICE void write_as(const OutputRow& to, int d, const float (&x)[Count]) {
  auto* const at = (FLASHWAVE_GLOBAL typename E::Stored*)to.data + to.offset + d;
  if (to.wide) {
    if (d >= to.dim) return;
    constexpr int packed = 4 / sizeof(typename E::Stored);
    vec<u32, Count / packed> dwords;
    FLASHWAVE_EACH(i, Count / packed) {
      if constexpr (packed == 1)
        dwords[i] = as<u32>(x[i]);
      else
        dwords[i] = E::narrow_two(x[2 * i], x[2 * i + 1]);
    }
    *(FLASHWAVE_GLOBAL vec<u32, Count / packed>*)at = dwords;
  } else {
    FLASHWAVE_EACH(i, Count) if (d + i < to.dim) at[i] = E::narrow_one(x[i]);
  }
}

// Neighbouring values of the row, from element d on.
template <class E, int Count>
FLASHWAVE_DEVICE void write_values(const OutputRow& to, int d, const float (&x)[Count]) {
  to.partial ? write_as<Fp32>(to, d, x) : write_as<E>(to, d, x);
}

}  // namespace fw::FLASHWAVE_TARGET
