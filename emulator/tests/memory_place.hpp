// Memory of every kind that lanes reach at 32 bytes a lane, and the operands that name it.
#pragma once
#include "bench.hpp"

namespace cdna::test {

enum class Path { global, flat, buffer, scratch, lds };
inline constexpr Path kPaths[] = {Path::global, Path::flat, Path::buffer, Path::scratch, Path::lds};
inline constexpr int kLaneBytes = 32;

// What stands behind the data register of a load, and before it in a store; the instruction's name decides on
// LDS.
inline std::string address_of(Path path, bool late_name) {
  switch (path) {
    case Path::global: return late_name ? "v1, %, s[4:5] offset:8" : "v1, s[4:5] offset:8";
    case Path::flat: return late_name ? "v[2:3], %" : "v[2:3]";
    case Path::buffer: return "v1, s[8:11], 0 offen offset:8";
    case Path::scratch: return late_name ? "v4, %, off offset:8" : "v4, off offset:8";
    default: return late_name ? "v5, % offset:8" : "v5 offset:8";
  }
}

class Place {
 public:
  explicit Place(Arch arch) : bench(arch), memory_(kLanes * kLaneBytes), scratch_(kLanes * kLaneBytes) {
    MemoryMap map;
    map.add(reinterpret_cast<uint64_t>(memory_.data()), memory_.size(), "data");
    bench.group.regions = map.snapshot();
    Wave& w = bench.wave();
    const auto base = reinterpret_cast<uint64_t>(memory_.data());
    w.set_pair(4, base);
    w.set_pair(8, base);
    w.s[10] = static_cast<uint32_t>(memory_.size());
    w.s[11] = 0x27000;
    w.scratch = reinterpret_cast<uint64_t>(scratch_.data());
    w.scratch_bytes = kLaneBytes;
    for (uint32_t l = 0; l < kLanes; ++l) {
      w.v[1][l] = w.v[5][l] = kLaneBytes * l;
      const uint64_t at = base + kLaneBytes * l + 8;
      w.v[2][l] = static_cast<uint32_t>(at);
      w.v[3][l] = static_cast<uint32_t>(at >> 32);
      w.v[4][l] = 0;
    }
  }

  // A byte of a lane's part, as the path has it.
  uint8_t& byte(Path path, uint32_t lane, uint32_t at) {
    if (path == Path::lds) return bench.group.lds[kLaneBytes * lane + at];
    if (path == Path::scratch)
      return scratch_[(at / 4 * kLanes + lane) * 4 + at % 4];  // words of lanes side by side
    return memory_[kLaneBytes * lane + at];
  }
  uint64_t read(Path path, uint32_t lane, uint32_t at, int bytes) {
    uint64_t x = 0;
    for (int n = 0; n < bytes; ++n) x |= uint64_t{byte(path, lane, at + static_cast<uint32_t>(n))} << (8 * n);
    return x;
  }
  void write(Path path, uint32_t lane, uint32_t at, int bytes, uint64_t x) {
    for (int n = 0; n < bytes; ++n)
      byte(path, lane, at + static_cast<uint32_t>(n)) = static_cast<uint8_t>(x >> (8 * n));
  }

  Bench bench;

 private:
  std::vector<uint8_t> memory_, scratch_;
};

}  // namespace cdna::test
