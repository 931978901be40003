// The one integer generator of lengths and data: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace fw {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // 0 .. bound-1, or 0 when bound is 0. The remainder's bias is of no matter here.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t drawn = next();
    return bound ? drawn % bound : 0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace fw
