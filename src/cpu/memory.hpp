// Working memory of a call: aligned to 256 bytes, in huge pages where that pays, and kept for the next call,
// since touching fresh pages would cost a small call more than its arithmetic.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.hpp"
#include "problem/call.hpp"

namespace fw::cpu {

class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // `purpose` names it in the refusal. Contents are irrelevant. Once.
  Status take(std::size_t bytes, std::string_view purpose);
  Status take_from(const Allocator& allocator, std::size_t bytes, std::string_view purpose);
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  Allocator allocator_;  // that it goes back to; both null = ours
};

}  // namespace fw::cpu
