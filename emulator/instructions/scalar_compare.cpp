// Scalar comparisons: they write SCC alone.
#include "instructions/operands.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

template <class T, auto op>
void compare(Wave& w, const Instruction& i) {
  w.scc = op(static_cast<T>(read_scalar(w, i.operand[0])), static_cast<T>(read_scalar(w, i.operand[1])));
}

// The second operand is the 16 bits of the instruction.
template <class T, auto op>
void compare_short(Wave& w, const Instruction& i) {
  const T constant =
      std::is_signed_v<T> ? static_cast<T>(static_cast<int16_t>(i.immediate)) : static_cast<T>(i.immediate);
  w.scc = op(static_cast<T>(read_scalar(w, i.operand[0])), constant);
}

template <bool equal>
void compare_wide(Wave& w, const Instruction& i) {
  w.scc = (read_scalar64(w, i.operand[0]) == read_scalar64(w, i.operand[1])) == equal;
}

template <bool wide, bool set>
void bit_compare(Wave& w, const Instruction& i) {
  const uint32_t n = read_scalar(w, i.operand[1]) & (wide ? 63 : 31);
  const uint64_t x = wide ? read_scalar64(w, i.operand[0]) : read_scalar(w, i.operand[0]);
  w.scc = (x >> n & 1) == set;
}

Definition make(const std::string& name, Handler handler, bool wide = false) {
  Definition d{name, handler, Class::scalar, 0};
  d.sources.fill(wide ? Type::unsigned64 : Type::bits);
  return d;
}

template <class T, auto op>
void add(Definitions& all, const std::string& relation, const std::string& type) {
  all.push_back(make("s_cmp_" + relation + "_" + type, compare<T, op>));
  all.push_back(make("s_cmpk_" + relation + "_" + type, compare_short<T, op>));
}

template <class T>
void add_all(Definitions& all, const std::string& type) {
  add<T, [](T a, T b) { return a == b; }>(all, "eq", type);
  add<T, [](T a, T b) { return a != b; }>(all, "lg", type);
  add<T, [](T a, T b) { return (a > b); }>(all, "gt", type);
  add<T, [](T a, T b) { return (a >= b); }>(all, "ge", type);
  add<T, [](T a, T b) { return a < b; }>(all, "lt", type);
  add<T, [](T a, T b) { return a <= b; }>(all, "le", type);
}

}  // namespace

Definitions scalar_compare() {
  Definitions all;
  add_all<int32_t>(all, "i32");
  add_all<uint32_t>(all, "u32");
  all.push_back(make("s_cmp_eq_u64", compare_wide<true>, true));
  all.push_back(make("s_cmp_lg_u64", compare_wide<false>, true));
  all.push_back(make("s_bitcmp0_b32", bit_compare<false, false>));
  all.push_back(make("s_bitcmp1_b32", bit_compare<false, true>));
  all.push_back(make("s_bitcmp0_b64", bit_compare<true, false>, true));
  all.push_back(make("s_bitcmp1_b64", bit_compare<true, true>, true));
  return all;
}

}  // namespace cdna
