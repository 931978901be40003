// LDS atomics: ds_OP_TYPE, and ds_OP_rtn_TYPE which also returns the old value.
#include "instructions/atomic_operations.hpp"
#include "instructions/memory.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

template <class T>
T word_at(const Wave& w, const Operand& o, int lane) {
  if constexpr (sizeof(T) == 8)
    return static_cast<uint64_t>(w.v[o.index + 1][lane]) << 32 | w.v[o.index][lane];
  else
    return w.v[o.index][lane];
}

template <class T>
void keep(Data& data, int lane, T x) {
  data.word[0][lane] = static_cast<uint32_t>(x);
  if constexpr (sizeof(T) == 8) data.word[1][lane] = static_cast<uint32_t>(x >> 32);
}

// Atomics take effect at once: the LDS queue is in order, so what came before is completed first.
template <class T, class F>
void exchange(Wave& w, const Instruction& i, bool returns, int data_operands, F change) {
  w.settle(Counter::local, 0);
  const int first = returns ? 1 : 0;
  Row32 room;
  const uint32_t* base = read_row(w, i.operand[first], room);
  uint32_t at[kLanes];
  for (int l = 0; l < kLanes; ++l) at[l] = base[l] + static_cast<uint32_t>(i.modifiers.offset);
  const uint64_t lanes = w.exec();
  note_lds(w, i, at, lanes, sizeof(T), false);
  Data old;
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint8_t* p = lds_at(w, at[l], sizeof(T), l);
    T before;
    std::memcpy(&before, p, sizeof before);
    const T x = word_at<T>(w, i.operand[first + 1], l);
    const T y = data_operands > 1 ? word_at<T>(w, i.operand[first + 2], l) : T{};
    const T after = change(before, x, y);
    std::memcpy(p, &after, sizeof after);
    keep(old, l, before);
  }
  if (!returns) return finish_store(w, Counter::local);
  const Operand& o = i.operand[0];
  w.poison(o, lanes);
  w.later(Counter::local, [o, old, lanes](Wave& then) { deliver(then, o, {sizeof(T)}, old, lanes); });
}

template <class T, T (*op)(T, T), bool returns>
void run(Wave& w, const Instruction& i) {
  exchange<T>(w, i, returns, 1, [](T old, T x, T) { return op(old, x); });
}

// The first operand is compared, the second stored.
template <class T, bool returns>
void compare_store(Wave& w, const Instruction& i) {
  exchange<T>(w, i, returns, 2, [](T old, T compare, T x) { return old == compare ? x : old; });
}
template <class T, bool returns>
void compare_store_real(Wave& w, const Instruction& i) {
  exchange<T>(w, i, returns, 2, [](T old, T compare, T x) {
    if constexpr (sizeof(T) == 8)
      return as_double(old) == as_double(compare) ? x : old;
    else
      return as_float(old) == as_float(compare) ? x : old;
  });
}
template <class T, bool returns>
void mask_or(Wave& w, const Instruction& i) {
  exchange<T>(w, i, returns, 2, [](T old, T mask, T x) { return (old & ~mask) | x; });
}

Definition make(const std::string& name, Handler run, bool returns) {
  return {name, run, Class::lds_atomic, static_cast<uint8_t>(returns)};
}

template <class T, T (*op)(T, T)>
void add(Definitions& all, const std::string& what, const std::string& type) {
  all.push_back(make("ds_" + what + "_" + type, run<T, op, false>, false));
  all.push_back(make("ds_" + what + "_rtn_" + type, run<T, op, true>, true));
}

template <class T>
void add_integers(Definitions& all, const std::string& bits) {
  using namespace atomic;
  add<T, atomic::add<T>>(all, "add", "u" + bits);
  add<T, sub<T>>(all, "sub", "u" + bits);
  add<T, rsub<T>>(all, "rsub", "u" + bits);
  add<T, inc<T>>(all, "inc", "u" + bits);
  add<T, dec<T>>(all, "dec", "u" + bits);
  add<T, smin<T>>(all, "min", "i" + bits);
  add<T, smax<T>>(all, "max", "i" + bits);
  add<T, umin<T>>(all, "min", "u" + bits);
  add<T, umax<T>>(all, "max", "u" + bits);
  add<T, and_<T>>(all, "and", "b" + bits);
  add<T, or_<T>>(all, "or", "b" + bits);
  add<T, xor_<T>>(all, "xor", "b" + bits);
  add<T, min_real<T>>(all, "min", "f" + bits);
  add<T, max_real<T>>(all, "max", "f" + bits);
  add<T, add_real<T>>(all, "add", "f" + bits);
  all.push_back(make("ds_wrxchg_rtn_b" + bits, run<T, swap<T>, true>, true));
  all.push_back(make("ds_cmpst_b" + bits, compare_store<T, false>, false));
  all.push_back(make("ds_cmpst_rtn_b" + bits, compare_store<T, true>, true));
  all.push_back(make("ds_cmpst_f" + bits, compare_store_real<T, false>, false));
  all.push_back(make("ds_cmpst_rtn_f" + bits, compare_store_real<T, true>, true));
  all.push_back(make("ds_mskor_b" + bits, mask_or<T, false>, false));
  all.push_back(make("ds_mskor_rtn_b" + bits, mask_or<T, true>, true));
}

}  // namespace

Definitions local_atomic() {
  Definitions all;
  add_integers<uint32_t>(all, "32");
  add_integers<uint64_t>(all, "64");
  add<uint32_t, atomic::add_halves>(all, "pk_add", "f16");
  add<uint32_t, atomic::add_brains>(all, "pk_add", "bf16");
  return all;
}

}  // namespace cdna
