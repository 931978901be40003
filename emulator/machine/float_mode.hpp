// The host's floating-point unit as a wave's MODE register asks: rounding, and flushing of subnormal numbers.
#pragma once
#include <cstdint>

namespace cdna {

// MODE bits: [1:0] rounding of fp32, [3:2] of fp16 and fp64, [5:4] subnormals of fp32, [7:6] of fp16 and
// fp64.
struct FloatMode {
  static constexpr uint32_t kIeee = 0xf0;  // nearest even, nothing flushed
  static uint32_t single(uint32_t mode) { return (mode & 3) | (mode >> 4 & 3) << 4; }
  static uint32_t wide(uint32_t mode) { return (mode >> 2 & 3) | (mode >> 6 & 3) << 4; }
};

// `part` is FloatMode::single or wide of a mode.
void set_float_mode(uint32_t part);

// Sets a mode for a scope when it differs from the current one.
class FloatScope {
 public:
  FloatScope(uint32_t current, uint32_t wanted) : current_(current), changed_(current != wanted) {
    if (changed_) set_float_mode(wanted);
  }
  ~FloatScope() {
    if (changed_) set_float_mode(current_);
  }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;

 private:
  uint32_t current_;
  bool changed_;
};

// Keeps the thread's own setting while waves run.
class FloatGuard {
 public:
  FloatGuard();
  ~FloatGuard();
  FloatGuard(const FloatGuard&) = delete;
  FloatGuard& operator=(const FloatGuard&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace cdna
