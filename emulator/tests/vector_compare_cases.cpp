// Every comparison of every type, from whether one number is below, equal to or above another, or there is no
// order.
#include "vector_case.hpp"

namespace cdna::test {
namespace {

enum Relation { kBelow = 1, kSame = 2, kAbove = 4, kUnordered = 8 };

template <class T>
int relation(T a, T b) {
  return a < b ? kBelow : a == b ? kSame : a > b ? kAbove : kUnordered;
}

struct Name {
  const char* text;
  int holds;
};
constexpr Name kReals[] = {{"f", 0},
                           {"lt", kBelow},
                           {"eq", kSame},
                           {"le", kBelow | kSame},
                           {"gt", kAbove},
                           {"lg", kBelow | kAbove},
                           {"ge", kAbove | kSame},
                           {"o", kBelow | kSame | kAbove},
                           {"u", kUnordered},
                           {"nge", kBelow | kUnordered},
                           {"nlg", kSame | kUnordered},
                           {"ngt", kBelow | kSame | kUnordered},
                           {"nle", kAbove | kUnordered},
                           {"neq", kBelow | kAbove | kUnordered},
                           {"nlt", kAbove | kSame | kUnordered},
                           {"tru", 15}};
constexpr Name kIntegers[] = {
    {"f", 0},       {"lt", kBelow},          {"eq", kSame},          {"le", kBelow | kSame},
    {"gt", kAbove}, {"ne", kBelow | kAbove}, {"ge", kAbove | kSame}, {"t", 15}};

template <class Names, class Of>
void add(Cases& all, const Names& names, const std::string& type, bool wide, Of of) {
  for (const std::string form : {"v_cmp_", "v_cmpx_"})
    for (const Name& n : names)
      all.push_back({form + n.text + "_" + type + (wide ? " vcc, v[10:11], v[12:13]" : " vcc, v10, v12"),
                     kMask, kEqual,
                     [of, holds = n.holds](const In& i) { return u64{(of(i) & holds) != 0}; }});
}

// Signalling and quiet NaN; then, negative and positive, infinities, normal, subnormal numbers, zeros.
template <class Word>
int class_of(Word x, int exponent_bits, int fraction_bits) {
  const Word fraction = x & ((Word{1} << fraction_bits) - 1), most = (Word{1} << exponent_bits) - 1;
  const Word exponent = x >> fraction_bits & most;
  const bool negative = x >> (fraction_bits + exponent_bits) & 1;
  if (exponent == most && fraction) return fraction >> (fraction_bits - 1) ? 1 : 0;
  const int size = exponent == most ? 0 : exponent ? 1 : fraction ? 2 : 3;
  return negative ? 2 + size : 9 - size;
}

}  // namespace

Cases compare_cases() {
  Cases all;
  add(all, kReals, "f16", false, [](const In& i) { return relation(i.ha(), i.hb()); });
  add(all, kReals, "f32", false, [](const In& i) { return relation(i.fa(), i.fb()); });
  add(all, kReals, "f64", true, [](const In& i) { return relation(i.da(), i.db()); });
  add(all, kIntegers, "i16", false, [](const In& i) { return relation(s16(i.a), s16(i.b)); });
  add(all, kIntegers, "u16", false, [](const In& i) { return relation(u16(i.a), u16(i.b)); });
  add(all, kIntegers, "i32", false, [](const In& i) { return relation(s(i.a), s(i.b)); });
  add(all, kIntegers, "u32", false, [](const In& i) { return relation(lo(i.a), lo(i.b)); });
  add(all, kIntegers, "i64", true,
      [](const In& i) { return relation(static_cast<i64>(i.a), static_cast<i64>(i.b)); });
  add(all, kIntegers, "u64", true, [](const In& i) { return relation(i.a, i.b); });
  for (const std::string form : {"v_cmp_", "v_cmpx_"}) {
    all.push_back({form + "class_f16 vcc, v10, v12", kMask, kEqual,
                   [](const In& i) { return i.b >> class_of<u32>(u16(i.a), 5, 10) & 1; }});
    all.push_back({form + "class_f32 vcc, v10, v12", kMask, kEqual,
                   [](const In& i) { return i.b >> class_of<u32>(lo(i.a), 8, 23) & 1; }});
    all.push_back({form + "class_f64 vcc, v[10:11], v12", kMask, kEqual,
                   [](const In& i) { return i.b >> class_of<u64>(i.a, 11, 52) & 1; }});
  }
  return all;
}

}  // namespace cdna::test
