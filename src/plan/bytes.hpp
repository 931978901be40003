// Sizes that remember whether they left 63 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fw {

class Bytes {
 public:
  constexpr Bytes(std::int64_t value = 0) : value_(value), overflow_(value < 0) {}

  friend constexpr Bytes operator*(Bytes a, Bytes b) {
    Bytes result;
    result.overflow_ =
        __builtin_mul_overflow(a.value_, b.value_, &result.value_) || a.overflow_ || b.overflow_;
    return result;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    Bytes result;
    result.overflow_ =
        __builtin_add_overflow(a.value_, b.value_, &result.value_) || a.overflow_ || b.overflow_;
    return result;
  }
  constexpr Bytes rounded_up(std::int64_t multiple) const {
    Bytes result = *this + Bytes(multiple - 1);
    result.value_ -= result.value_ % multiple;
    return result;
  }

  constexpr bool overflow() const { return overflow_; }
  // When there was no overflow.
  constexpr std::size_t value() const { return static_cast<std::size_t>(value_); }

 private:
  std::int64_t value_ = 0;
  bool overflow_ = false;
};

}  // namespace fw
