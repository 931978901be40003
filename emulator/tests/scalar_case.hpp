// Rows of the tests of scalar instructions.
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cdna::test::scalar {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

// s[8:9] and s[10:11] are the sources, s[12:13] the result, and what it was before.
struct In {
  u64 a, b, d;
  bool scc;
  u32 la() const { return static_cast<u32>(a); }
  u32 lb() const { return static_cast<u32>(b); }
  int32_t sa() const { return static_cast<int32_t>(a); }
  int32_t sb() const { return static_cast<int32_t>(b); }
};

constexpr int kKept = 2;  // SCC stays

struct Out {
  u64 value;
  int scc;
};

struct Case {
  std::string text;
  bool wide;
  std::function<Out(const In&)> want;
};

inline Out logic(u64 x) { return {x, x != 0}; }
inline u32 cut(u64 x) { return static_cast<u32>(x); }

using Cases = std::vector<Case>;
Cases basic_cases();
Cases bit_cases();
Cases compare_cases();

}  // namespace cdna::test::scalar
