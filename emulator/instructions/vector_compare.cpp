// Vector comparisons: a mask of the lanes for which a relation holds.
#include "instructions/vector.hpp"

namespace cdna {
namespace {

template <class T>
auto value(T x) {
  if constexpr (std::is_same_v<T, half>)
    return x.x;
  else
    return x;
}

template <class T>
void add_integers(Definitions& all, const std::string& type) {
  add_compare<[](T, T) { return false; }>(all, "f_" + type);
  add_compare<[](T a, T b) { return a < b; }>(all, "lt_" + type);
  add_compare<[](T a, T b) { return a == b; }>(all, "eq_" + type);
  add_compare<[](T a, T b) { return a <= b; }>(all, "le_" + type);
  add_compare<[](T a, T b) { return (a > b); }>(all, "gt_" + type);
  add_compare<[](T a, T b) { return a != b; }>(all, "ne_" + type);
  add_compare<[](T a, T b) { return (a >= b); }>(all, "ge_" + type);
  add_compare<[](T, T) { return true; }>(all, "t_" + type);
}

template <class T>
void add_reals(Definitions& all, const std::string& type) {
  add_compare<[](T, T) { return false; }>(all, "f_" + type);
  add_compare<[](T a, T b) { return value(a) < value(b); }>(all, "lt_" + type);
  add_compare<[](T a, T b) { return value(a) == value(b); }>(all, "eq_" + type);
  add_compare<[](T a, T b) { return value(a) <= value(b); }>(all, "le_" + type);
  add_compare<[](T a, T b) { return (value(a) > value(b)); }>(all, "gt_" + type);
  add_compare<[](T a, T b) { return (value(a) < value(b) || value(a) > value(b)); }>(all, "lg_" + type);
  add_compare<[](T a, T b) { return (value(a) >= value(b)); }>(all, "ge_" + type);
  add_compare<[](T a, T b) { return value(a) == value(a) && value(b) == value(b); }>(all, "o_" + type);
  add_compare<[](T a, T b) { return value(a) != value(a) || value(b) != value(b); }>(all, "u_" + type);
  add_compare<[](T a, T b) { return (!(value(a) >= value(b))); }>(all, "nge_" + type);
  add_compare<[](T a, T b) { return (!(value(a) < value(b) || value(a) > value(b))); }>(all, "nlg_" + type);
  add_compare<[](T a, T b) { return (!(value(a) > value(b))); }>(all, "ngt_" + type);
  add_compare<[](T a, T b) { return !(value(a) <= value(b)); }>(all, "nle_" + type);
  add_compare<[](T a, T b) { return !(value(a) == value(b)); }>(all, "neq_" + type);
  add_compare<[](T a, T b) { return !(value(a) < value(b)); }>(all, "nlt_" + type);
  add_compare<[](T, T) { return true; }>(all, "tru_" + type);
}

}  // namespace

Definitions vector_compare() {
  Definitions all;
  add_reals<half>(all, "f16");
  add_reals<float>(all, "f32");
  add_reals<double>(all, "f64");
  add_integers<int16_t>(all, "i16");
  add_integers<uint16_t>(all, "u16");
  add_integers<int32_t>(all, "i32");
  add_integers<uint32_t>(all, "u32");
  add_integers<int64_t>(all, "i64");
  add_integers<uint64_t>(all, "u64");
  return all;
}

}  // namespace cdna
