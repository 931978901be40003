// Reads MessagePack, as far as code objects use it: maps, arrays, strings and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fw::gpu {

class MessagePack {
 public:
  explicit MessagePack(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  bool damaged() const { return damaged_; }

  // Calls visit(key) for each member of the map that comes next; visit reads or skips the value.
  template <class Visit>
  void each_member(Visit visit) {
    for (std::uint64_t n = count(0x80, 0xde); n > 0 && !damaged_; --n) visit(text());
  }
  // Calls visit() for each element of the array that comes next.
  template <class Visit>
  void each_element(Visit visit) {
    for (std::uint64_t n = count(0x90, 0xdc); n > 0 && !damaged_; --n) visit();
  }
  std::string_view text();
  std::int64_t number();
  void skip();

 private:
  unsigned char next() { return bytes_.empty() ? (damaged_ = true, 0xc0) : take(1)[0]; }
  std::span<const unsigned char> take(std::uint64_t size);
  std::uint64_t big_endian(int size);
  std::uint64_t count(unsigned char small, unsigned char wide);

  std::span<const unsigned char> bytes_;
  bool damaged_ = false;
};

}  // namespace fw::gpu
