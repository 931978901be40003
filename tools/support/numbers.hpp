// The one source of the numbers that cases are made of: a pure function of (seed, name of the stream, index).
//
//   key(stream)  = mix(mix(seed) + FNV-1a(name))
//   bits(index)  = mix(key + (index + 1) * 0x9e3779b97f4a7c15), mix being the finaliser of SplitMix64
//   normal       = sum of the four 16-bit parts of bits, less its mean of 131070: deviation 37837, almost a
//   bell
//
// All of it is integer arithmetic; the last step to floating point is exact, so each platform has equal bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace tools {

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class Numbers {
 public:
  Numbers(std::uint64_t seed, std::string_view stream) {
    std::uint64_t name = 0xcbf29ce484222325u;
    for (const char c : stream) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    key_ = mix(mix(seed) + name);
  }

  std::uint64_t bits(std::uint64_t index) const { return mix(key_ + (index + 1) * 0x9e3779b97f4a7c15u); }

  // Uniform in [0, count); count is far below 2^32, so the bias of the multiplication does not matter.
  std::int64_t below(std::uint64_t index, std::int64_t count) const {
    return static_cast<std::int64_t>((bits(index) >> 32) * static_cast<std::uint64_t>(count) >> 32);
  }

  // Standard normal but for a missing tail beyond 3.46: an integer below 2^23 in size times 2^-21.
  float normal(std::uint64_t index) const { return bell(bits(index)); }

  static float bell(std::uint64_t bits) {
    const auto sum = static_cast<std::int32_t>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                               (bits >> 32 & 0xffff) + (bits >> 48));
    return static_cast<float>((sum - 131070) * 1774 >> 5) * 0x1p-21f;  // 37837 * 1774 / 32 is 2^21
  }

 private:
  std::uint64_t key_;
};

}  // namespace tools
