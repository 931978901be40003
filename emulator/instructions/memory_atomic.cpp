// Atomics on memory: global, flat and buffer, of 32 and 64 bits. Workgroups may run on several host threads.
#include "instructions/atomic_operations.hpp"
#include "instructions/buffer.hpp"
#include "instructions/flat_address.hpp"
#include "instructions/tables.hpp"

namespace cdna {
namespace {

// Host atomics need alignment; so does the hardware.
void check_alignment(const Wave& w, uint64_t address, int bytes, int lane) {
  if (address % static_cast<uint64_t>(bytes))
    fault(w, "lane " + std::to_string(lane) + ": an atomic of " + std::to_string(bytes) + " bytes at " +
                 hex(address) + " is not aligned");
}

template <class T>
T word_of(const Data& data, int first, int lane) {
  if constexpr (sizeof(T) == 8)
    return static_cast<uint64_t>(data.word[first + 1][lane]) << 32 | data.word[first][lane];
  else
    return data.word[first][lane];
}

// One lane: `change` is applied until nobody came between.
template <class T, class F>
T change_word(T* at, F change) {
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, change(old), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

template <class T, T (*op)(T, T)>
struct Apply {
  using Word = T;
  static constexpr int kWords = sizeof(T) / 4;
  static T lane(T* at, const Data& data, int l) {
    const T x = word_of<T>(data, 0, l);
    return change_word(at, [x](T old) { return op(old, x); });
  }
};

// The data is the new value, then the one to compare with.
template <class T>
struct CompareSwap {
  using Word = T;
  static constexpr int kWords = 2 * sizeof(T) / 4;
  static T lane(T* at, const Data& data, int l) {
    const T x = word_of<T>(data, 0, l), compare = word_of<T>(data, sizeof(T) / 4, l);
    return change_word(at, [x, compare](T old) { return old == compare ? x : old; });
  }
};

template <class A>
void apply(Wave& w, const Addresses& a, uint64_t lanes, const Data& data, Data& old) {
  using T = typename A::Word;
  for (int l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    check_alignment(w, a.lane[l], sizeof(T), l);
    const T before = A::lane(reinterpret_cast<T*>(a.lane[l]), data, l);
    old.word[0][l] = static_cast<uint32_t>(before);
    if constexpr (sizeof(T) == 8) old.word[1][l] = static_cast<uint32_t>(before >> 32);
  }
}

template <class A>
void finish(Wave& w, const Instruction& i, const Data& old, uint64_t lanes) {
  if (!i.has(kReturns)) return finish_store(w, Counter::vector_memory);
  Operand o = i.operand[0];
  o.count = sizeof(typename A::Word) / 4;
  const Shape shape{sizeof(typename A::Word)};
  w.poison(o, lanes);
  w.later(Counter::vector_memory,
          [o, shape, old, lanes](Wave& then) { deliver(then, o, shape, old, lanes); });
}

void take(const Wave& w, const Operand& o, int words, Data& data) {
  for (int k = 0; k < words; ++k) std::memcpy(data.word[k], w.v[o.index + k], sizeof data.word[k]);
}

template <class A>
void global_atomic(Wave& w, const Instruction& i) {
  const int first = i.has(kReturns) ? 1 : 0;
  const uint64_t lanes = w.exec();
  const Addresses a = global_addresses(w, i, i.operand[first], &i.operand[first + 2]);
  check_memory(w, a, lanes, sizeof(typename A::Word));
  note_global(w, i, a, lanes, sizeof(typename A::Word));
  Data data, old{};
  take(w, i.operand[first + 1], A::kWords, data);
  apply<A>(w, a, lanes, data, old);
  finish<A>(w, i, old, lanes);
}

template <class A>
void flat_atomic(Wave& w, const Instruction& i) {
  const int first = i.has(kReturns) ? 1 : 0;
  const FlatAccess f = split_flat(w, global_addresses(w, i, i.operand[first], nullptr));
  if (f.scratch) fault(w, "an atomic on private memory is not modelled");
  check_memory(w, f.address, f.global, sizeof(typename A::Word));
  note_global(w, i, f.address, f.global, sizeof(typename A::Word));
  Addresses a = f.address;
  for (int l = 0; l < kLanes; ++l)
    if (f.local >> l & 1)
      a.lane[l] = reinterpret_cast<uint64_t>(lds_at(w, f.offset[l], sizeof(typename A::Word), l));
  Data data, old{};
  take(w, i.operand[first + 1], A::kWords, data);
  apply<A>(w, a, w.exec(), data, old);
  finish_store(w, Counter::local);
  finish<A>(w, i, old, w.exec());
}

template <class A>
void buffer_atomic(Wave& w, const Instruction& i) {
  const BufferAccess b = buffer_access(w, i, &i.operand[1], sizeof(typename A::Word));
  check_buffer(w, b, sizeof(typename A::Word));
  note_global(w, i, b.word[0], b.lanes[0], sizeof(typename A::Word));
  Data data, old{};
  take(w, i.operand[0], A::kWords, data);
  apply<A>(w, b.word[0], b.lanes[0], data, old);
  finish<A>(w, i, old, w.exec());
}

template <class A>
void add_all(Definitions& all, const std::string& suffix) {
  const auto push = [&all](const std::string& name, Handler run, bool in_place) {
    Definition d{name, run, Class::atomic, 0};
    d.accumulates = in_place;
    all.push_back(d);
  };
  push("global_atomic_" + suffix, global_atomic<A>, false);
  push("flat_atomic_" + suffix, flat_atomic<A>, false);
  push("buffer_atomic_" + suffix, buffer_atomic<A>, true);
}

template <class T>
void add_integers(Definitions& all, const std::string& x2) {
  add_all<Apply<T, atomic::swap<T>>>(all, "swap" + x2);
  add_all<Apply<T, atomic::add<T>>>(all, "add" + x2);
  add_all<Apply<T, atomic::sub<T>>>(all, "sub" + x2);
  add_all<Apply<T, atomic::smin<T>>>(all, "smin" + x2);
  add_all<Apply<T, atomic::umin<T>>>(all, "umin" + x2);
  add_all<Apply<T, atomic::smax<T>>>(all, "smax" + x2);
  add_all<Apply<T, atomic::umax<T>>>(all, "umax" + x2);
  add_all<Apply<T, atomic::and_<T>>>(all, "and" + x2);
  add_all<Apply<T, atomic::or_<T>>>(all, "or" + x2);
  add_all<Apply<T, atomic::xor_<T>>>(all, "xor" + x2);
  add_all<Apply<T, atomic::inc<T>>>(all, "inc" + x2);
  add_all<Apply<T, atomic::dec<T>>>(all, "dec" + x2);
  add_all<CompareSwap<T>>(all, "cmpswap" + x2);
}

}  // namespace

Definitions memory_atomic() {
  Definitions all;
  add_integers<uint32_t>(all, "");
  add_integers<uint64_t>(all, "_x2");
  add_all<Apply<uint32_t, atomic::add_floats_flushed>>(all, "add_f32");
  add_all<Apply<uint32_t, atomic::add_halves>>(all, "pk_add_f16");
  add_all<Apply<uint32_t, atomic::add_brains>>(all, "pk_add_bf16");
  add_all<Apply<uint64_t, atomic::add_real<uint64_t>>>(all, "add_f64");
  add_all<Apply<uint64_t, atomic::min_real<uint64_t>>>(all, "min_f64");
  add_all<Apply<uint64_t, atomic::max_real<uint64_t>>>(all, "max_f64");
  return all;
}

}  // namespace cdna
