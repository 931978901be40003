// What a wave of a kernel for long sequences computes: a matrix phase and a softmax phase a tile.
//
// A lane keeps its rows of Q and of the output in registers for the whole kernel. The maximum of a row may
// lag behind, so that most tiles change neither it nor what was summed; P is cut to 16 bits, and the output
// is divided by the sum of what was left of it, so that a row's weights add up to one, as if they were
// rounded.
#pragma once

#include "amd/kernels/operand.hpp"
#include "amd/kernels/tile.hpp"
#include "amd/kernels/work.hpp"
#include "meaning/softmax.hpp"

namespace fw::FLASHWAVE_TARGET {

// What the weights of an element type bear.
template <class E>
struct Weight;
template <>
struct Weight<Bf16> {
  static constexpr float slack = 8;  // a maximum may be exceeded by this much (base 2) before it is raised
  static constexpr float lift = 0;   // the largest weight of a raised row is 2^lift
};
template <>
struct Weight<Fp16> {
  static constexpr float slack = 7, lift = 8;  // weights stay below 2^15, small ones away from subnormals
};

template <int M>
struct Accumulator {
  using Type = f32x4;
};
template <>
struct Accumulator<32> {
  using Type = vec<float, 16>;
};

// R groups of M rows; Ahead units are read ahead of their products.
template <class Element, class Tile_, int R, int Ahead>
struct Stream {
  using E = Element;
  using T = Tile_;
  static constexpr int M = T::M;
  using Acc = typename Accumulator<M>::Type;
  static constexpr int rows = M * R;
  static constexpr int registers = M * M / lanes;        // of an accumulator
  static constexpr int scores = T::keys * M / lanes;     // of one row in one lane
  static constexpr int reads_v = T::v / M * T::units_p;  // units read in a matrix phase
  static constexpr int reads_k = T::keys / M * T::units_q;
  static constexpr int ahead = Ahead;
  static constexpr int tail = R > 1 ? 2 : 4;  // products left for after the barrier
  static_assert(tail <= ahead);
  // Wide rows leave no registers for the second sum, but time enough to round weights to nearest.
  static constexpr bool cuts = E::cuts && T::v < 256;
  static constexpr float fresh = 3e38f;  // shift of a row that has seen nothing

  int lane, column, group;
  float scale;  // of scores, in powers of 2
  Unit16 q[R][T::units_q];
  Acc s[R][T::keys / M];
  Unit16 p[R][T::units_p];
  Acc out[R][T::v / M];
  float shift[R];                             // -maximum * scale: a weight is exp2(s * scale + shift)
  float sum[R];                               // of the weights,
  f32x4 cut_sum;                              // and in element r of the cut weights of row group r
  vec<short, 4> ones[R];                      // 4x4 matrix with ones in row r
  u32 k_at[T::key_places], v_at[T::units_p];  // LDS addresses
  Unit16 ring[ahead];                         // units that have been read

  FLASHWAVE_DEVICE void open(u32 lds, float score_scale) {
    lane = lane_id();
    column = lane % M;
    group = lane / M;
    scale = score_scale;
    cut_sum = f32x4(0.0f);
    FLASHWAVE_EACH(r, R) {
      FLASHWAVE_EACH(n, T::v / M) out[r][n] = Acc(0.0f);
      sum[r] = 0.0f;
      shift[r] = fresh;
      ones[r] = (vec<short, 4>)(short)(lane % 4 == r ? E::one : 0);
    }
    FLASHWAVE_EACH(u, T::key_places)
    k_at[u] = lds + T::key_place(column, u * T::groups + group);
    FLASHWAVE_EACH(u, T::units_p)
    v_at[u] = lds + T::key_bytes + T::value_place(column, u * T::groups + group);
  }

  FLASHWAVE_DEVICE float& score(int r, int i) { return ((float*)&s[r][i / registers])[i % registers]; }
  FLASHWAVE_DEVICE Unit16 read_v(int i) const {
    return *(FLASHWAVE_LDS const Unit16*)(v_at[i % T::units_p] + i / T::units_p * M * T::column_bytes);
  }
  FLASHWAVE_DEVICE Unit16 read_k(int i) const {
    const int block = i / T::units_q, unit = i % T::units_q;
    return *(FLASHWAVE_LDS const Unit16*)(k_at[unit % T::key_places] +
                                          (block * M * T::row_bytes + unit / T::key_places * T::period * 16));
  }
  FLASHWAVE_DEVICE void read_first_values() {
    FLASHWAVE_EACH(i, ahead) ring[i] = read_v(i);
    pin();
  }
  FLASHWAVE_DEVICE void read_first_keys() {
    FLASHWAVE_EACH(i, ahead) ring[(reads_v + i) % ahead] = read_k(i);
    pin();
  }
  // What was read so far is waited for here, and not in every turn of the loop that follows.
  FLASHWAVE_DEVICE void settle() {
    FLASHWAVE_EACH(r, R) FLASHWAVE_EACH(u, T::units_q) asm volatile("" : "+v"(q[r][u]));
    FLASHWAVE_EACH(i, ahead) asm volatile("" : "+v"(ring[i]));
    pin();
  }
  FLASHWAVE_DEVICE void swap_values() { FLASHWAVE_EACH(u, T::units_p) v_at[u] ^= T::buffer; }
  FLASHWAVE_DEVICE void swap_keys() { FLASHWAVE_EACH(u, T::key_places) k_at[u] ^= T::buffer; }

  // Ot += Vt Pt, and the sums of P. meanwhile(i) is issued in the shadow of the products of unit i.
  template <class Body>
  FLASHWAVE_DEVICE void accumulate(Body meanwhile) {
    FLASHWAVE_EACH(i, reads_v) {
      const int block = i / T::units_p, unit = i % T::units_p;
      const Unit16 v = ring[i % ahead];
      FLASHWAVE_EACH(step, E::steps) {
        FLASHWAVE_EACH(r, R) out[r][block] = E::mma(v, p[r][unit], out[r][block], step);
        if (cuts && block == 0)
          FLASHWAVE_EACH(r, R) cut_sum = E::mma_4(ones[r], half_of(p[r][unit], step), cut_sum);
      }
      ring[i % ahead] = i + ahead < reads_v ? read_v(i + ahead) : read_k(i + ahead - reads_v);
      meanwhile(i);
      pin();
    }
    swap_values();
  }
  // St = K Qt. Ends the matrix phase: once all units are read, the other waves may go.
  FLASHWAVE_DEVICE void multiply() {
    FLASHWAVE_EACH(i, reads_k) {
      const int block = i / T::units_q, unit = i % T::units_q;
      if (i == reads_k - tail) {
        drain();
        barrier();
      }
      Unit16& k = ring[(reads_v + i) % ahead];
      FLASHWAVE_EACH(step, E::steps)
      FLASHWAVE_EACH(r, R)
      s[r][block] = E::mma(k, q[r][unit], unit || step ? s[r][block] : Acc(0.0f), step);
      if (i + ahead < reads_k) k = read_k(i + ahead);
      pin();
    }
    swap_keys();
  }

  // Scores of keys that a row does not see become -inf; seen(r) are the keys that this lane's row of group r
  // sees.
  template <class Seen>
  FLASHWAVE_DEVICE void hide(int tile, Seen seen) {
    FLASHWAVE_EACH(r, R) {
      const Range keys = seen(r);
      const u32 count = keys.count();
      const int first = tile * T::keys - keys.begin;
      FLASHWAVE_EACH(i, scores)
      score(r, i) = (u32)(first + T::key(i / 8, group, i % 8)) < count ? score(r, i) : -infinity;
    }
  }

  // The largest, or the sum, of what the lanes that share a row have.
  FLASHWAVE_DEVICE float row_top(float x) const {
    if (M == 16) x = __builtin_fmaxf(x, as<float>(across_16(as<u32>(x))));
    return __builtin_fmaxf(x, as<float>(across_32(as<u32>(x))));
  }
  FLASHWAVE_DEVICE float row_total(float x) const {
    if (M == 16) x += as<float>(across_16(as<u32>(x)));
    return x + as<float>(across_32(as<u32>(x)));
  }

  // The rows' maxima become those of this tile where they are larger; what was summed so far fades.
  FLASHWAVE_DEVICE void raise_rows(const float (&top)[R]) {
    FLASHWAVE_EACH(r, R) {
      const float next = __builtin_fminf(shift[r], Weight<E>::lift - row_top(top[r]) * scale);
      const float fade = exp2(Lane(next - shift[r])).x;
      shift[r] = next;
      sum[r] *= fade;
      if (cuts) cut_sum[r] *= fade;
      FLASHWAVE_EACH(n, T::v / M) out[r][n] *= fade;
    }
  }
  // S becomes P. Most tiles skip raise_rows, which holds the only exchange between lanes.
  FLASHWAVE_DEVICE void absorb() {
    float top[R];
    bool over = false;
    FLASHWAVE_EACH(r, R) {
      top[r] = score(r, 0);
      FLASHWAVE_EACH(i, scores) top[r] = __builtin_fmaxf(top[r], score(r, i));
      over |= __builtin_fmaf(top[r], scale, shift[r]) > Weight<E>::slack + Weight<E>::lift;
    }
    if (__builtin_amdgcn_ballot_w64(over)) raise_rows(top);
    FLASHWAVE_EACH(r, R)
    FLASHWAVE_EACH(u, T::units_p)
    FLASHWAVE_EACH(i, 4) {
      const float low = exp2(Lane(__builtin_fmaf(score(r, 8 * u + 2 * i), scale, shift[r]))).x;
      const float high = exp2(Lane(__builtin_fmaf(score(r, 8 * u + 2 * i + 1), scale, shift[r]))).x;
      sum[r] = sum[r] + low + high;
      p[r][u][i] = cuts ? E::cut_two(low, high) : E::narrow_two(low, high);
    }
  }

  // The row of this lane in group r: its state in the terms of meaning/softmax.hpp, and the factor of its
  // output.
  struct Closed {
    Total<Lane> total;
    float scale;
  };
  FLASHWAVE_DEVICE Closed close(int r, float sink) const {
    const float whole = row_total(sum[r]), cut = cuts ? row_total(cut_sum[r]) : whole;
    Row<Lane> row{Lane(shift[r] == fresh ? -infinity : -shift[r]), Lane(whole)};
    const Total<Lane> total = finish(row, Lane(sink), Unit{1.0f, ln_2});
    return {total, total.scale.x == 0 ? 0.0f : total.scale.x * (whole / cut)};
  }
};

}  // namespace fw::FLASHWAVE_TARGET
