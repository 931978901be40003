// A view of bytes that never reads outside itself: everything that comes from a file goes through it.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/error.hpp"

namespace cdna {

struct Bytes {
  std::span<const uint8_t> data;

  template <class T>
  T read(uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, part(offset, sizeof(T), what).data.data(), sizeof(T));
    return value;
  }
  Bytes part(uint64_t offset, uint64_t size, const char* what) const {
    if (offset > data.size() || size > data.size() - offset)
      throw Error(std::string("the code object ends before its ") + what);
    return {data.subspan(offset, size)};
  }
  std::string text(uint64_t offset, const char* what) const {
    const Bytes rest = part(offset, offset > data.size() ? 0 : data.size() - offset, what);
    const void* end = std::memchr(rest.data.data(), 0, rest.data.size());
    if (rest.data.empty() || !end) throw Error(std::string("the code object ends inside its ") + what);
    return reinterpret_cast<const char*>(rest.data.data());
  }
};

}  // namespace cdna
