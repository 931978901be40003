// Vector arithmetic on 16-bit integers, one number a lane.
#include <algorithm>
#include <limits>

#include "instructions/vector.hpp"

namespace cdna {
namespace {

using u16 = uint16_t;
using i16 = int16_t;

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr u16 cut(int x) { return static_cast<u16>(x); }

// Integer results saturate when the clamp bit is set.
template <class T, int sign, bool reversed>
void add_sub(Wave& w, const Instruction& i) {
  Lanes<T> room[2], out;
  const T* a = fetch<T>(w, i, i.operand[1], 0, room[0]);
  const T* b = fetch<T>(w, i, i.operand[2], 1, room[1]);
  const bool clamp = i.has(kClamp);
  for (int l = 0; l < kLanes; ++l) {
    const int x = reversed ? b[l] + sign * a[l] : a[l] + sign * b[l];
    out.x[l] = static_cast<T>(
        clamp ? std::clamp<int>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()) : x);
  }
  store<T>(w, i, out, 2);
}

Definition special(const char* name, Handler run) {
  Definition d{name, run, Class::vector};
  d.sources.fill(Type::half);
  return d;
}

}  // namespace

Definitions vector_short() {
  constexpr Keep keep = Keep::other_half;
  return {
      special("v_add_u16", add_sub<u16, 1, false>),
      special("v_sub_u16", add_sub<u16, -1, false>),
      special("v_subrev_u16", add_sub<u16, -1, true>),
      special("v_add_i16", add_sub<i16, 1, false>),
      special("v_sub_i16", add_sub<i16, -1, false>),
      vector<[](u16 a, u16 b) { return cut(static_cast<int>(static_cast<uint32_t>(a) * b)); }>(
          "v_mul_lo_u16"),
      vector<[](u16 a, u16 b) { return cut(b << (a & 15)); }>("v_lshlrev_b16"),
      vector<[](u16 a, u16 b) { return (cut(b >> (a & 15))); }>("v_lshrrev_b16"),
      vector<[](u16 a, i16 b) { return (static_cast<i16>(b >> (a & 15))); }>("v_ashrrev_i16"),
      vector<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
      vector<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
      vector<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
      vector<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
      vector<[](u16 a, u16 b, u16 c) { return cut(static_cast<int>(static_cast<uint32_t>(a) * b + c)); },
             keep>("v_mad_u16"),
      vector<[](i16 a, i16 b, i16 c) { return static_cast<i16>(a * b + c); }, keep>("v_mad_i16"),
      vector<[](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); }, keep>("v_max3_u16"),
      vector<[](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); }, keep>("v_max3_i16"),
      vector<[](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); }, keep>("v_min3_u16"),
      vector<[](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); }, keep>("v_min3_i16"),
      vector<[](u16 a, u16 b, u16 c) { return median(a, b, c); }, keep>("v_med3_u16"),
      vector<[](i16 a, i16 b, i16 c) { return median(a, b, c); }, keep>("v_med3_i16"),
      vector<[](u16 a, u16 b, uint32_t c) { return static_cast<uint32_t>(a) * b + c; }>("v_mad_u32_u16"),
      vector<[](i16 a, i16 b, int32_t c) { return a * b + c; }>("v_mad_i32_i16"),
      vector<[](u16 a, u16 b) { return static_cast<uint32_t>(b) << 16 | a; }>("v_pack_b32_f16"),
  };
}

}  // namespace cdna
