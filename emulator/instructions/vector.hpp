// A vector instruction from a function of its lanes: the function's types say how operands are read and
// written.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "instructions/operands.hpp"
#include "instructions/tables.hpp"

namespace cdna {

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, half>)
    return Type::half;
  else if constexpr (std::is_same_v<T, brain>)
    return Type::brain;
  else if constexpr (std::is_same_v<T, float>)
    return Type::single;
  else if constexpr (std::is_same_v<T, double>)
    return Type::fp64;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Type::signed64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return Type::unsigned64;
  else if constexpr (sizeof(T) == 2)
    return Type::half;  // 16-bit integers share the inline constants of fp16
  else
    return Type::bits;
}

template <class T>
constexpr bool kWideMode = std::is_same_v<T, half> || std::is_same_v<T, double>;

// The host's mode for operations on fp16 and fp64: halves are computed in fp32, where none is subnormal.
template <class... T>
uint32_t float_part(uint32_t mode) {
  if constexpr ((std::is_same_v<T, double> || ...))
    return FloatMode::wide(mode);
  else if constexpr ((kWideMode<T> || ...))
    return (mode >> 2 & 3) | 0x30;
  else
    return FloatMode::single(mode);
}

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, half>;

template <class F>
struct Signature;
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> {
  using Result = R;
  static constexpr int kCount = sizeof...(A);
  static constexpr bool kMode = kWideMode<R> || (kWideMode<A> || ...);

  template <auto op>
  static void loop(typename Lanes<R>::Element* __restrict out,
                   const typename Lanes<A>::Element* __restrict... in) {
    for (int l = 0; l < kLanes; ++l) {
      if constexpr (std::is_same_v<R, half> || std::is_same_v<R, brain>)
        out[l] = op(A{in[l]}...).x;
      else if constexpr (std::is_same_v<R, bool>)
        out[l] = op(A{in[l]}...) ? ~0u : 0u;
      else
        out[l] = op(A{in[l]}...);
    }
  }

  // `first` is the operand of the first source; with `accumulate` the last source is the destination.
  template <auto op, bool accumulate, size_t... n>
  static void compute(Wave& w, const Instruction& i, Lanes<R>& result, int first, std::index_sequence<n...>) {
    std::tuple<Lanes<A>...> rooms;
    const FloatScope scope(FloatMode::single(w.mode),
                           kMode ? float_part<R, A...>(w.mode) : FloatMode::single(w.mode));
    constexpr int last = sizeof...(A) - 1;
    loop<op>(result.x, fetch<A>(w, i, i.operand[accumulate && n == last ? 0 : first + static_cast<int>(n)],
                                static_cast<int>(n), std::get<n>(rooms))...);
  }

  static Definition describe(const char* name, Handler run, Class kind) {
    Definition d{name, run, kind};
    int n = 0;
    ((d.sources[n++] = type_of<A>()), ...);
    for (; n > 0 && n < 4; ++n) d.sources[n] = d.sources[n - 1];
    return d;
  }
};

template <auto op>
using SignatureOf = Signature<decltype(&decltype(op)::operator())>;

enum class Keep : bool { no, other_half };

template <auto op, bool accumulate, Keep keep>
void run_vector(Wave& w, const Instruction& i) {
  using S = SignatureOf<op>;
  Lanes<typename S::Result> result;
  S::template compute<op, accumulate>(w, i, result, 1, std::make_index_sequence<S::kCount>());
  store<typename S::Result>(w, i, result, accumulate ? S::kCount - 1 : S::kCount, keep == Keep::other_half);
}

// destination = op(sources...)
template <auto op, Keep keep = Keep::no>
Definition vector(const char* name, Class kind = Class::vector) {
  return SignatureOf<op>::describe(name, run_vector<op, false, keep>, kind);
}

// destination = op(sources..., destination)
template <auto op, Keep keep = Keep::no>
Definition accumulating(const char* name, Class kind = Class::vector) {
  Definition d = SignatureOf<op>::describe(name, run_vector<op, true, keep>, kind);
  d.accumulates = true;
  return d;
}

template <auto op, bool exec>
void run_compare(Wave& w, const Instruction& i) {
  using S = SignatureOf<op>;
  Lanes<bool> result;
  S::template compute<op, false>(w, i, result, 1, std::make_index_sequence<S::kCount>());
  const uint64_t mask = mask_of(result.x) & w.exec();
  w.set_pair(i.operand[0].index, mask);
  if constexpr (exec) w.set_pair(kExec, mask);
}

template <auto op>
void add_compare(Definitions& all, const std::string& what) {
  using S = SignatureOf<op>;
  all.push_back(S::describe(("v_cmp_" + what).c_str(), run_compare<op, false>, Class::vector));
  all.push_back(S::describe(("v_cmpx_" + what).c_str(), run_compare<op, true>, Class::vector));
}

inline Definition clocks(Definition d, uint16_t n) {
  d.clocks = n;
  return d;
}

constexpr uint8_t only(Arch a) { return static_cast<uint8_t>(1 << static_cast<int>(a)); }
inline Definition limited(Definition d, uint8_t archs) {
  d.only = archs;
  return d;
}

}  // namespace cdna
