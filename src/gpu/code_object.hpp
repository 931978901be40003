// A compiled kernel, embedded in this library.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace fw::gpu {

struct CodeObject {
  const char* arch;  // "gfx942"
  const char* name;  // of its only kernel
  const unsigned char *begin, *end;

  std::span<const unsigned char> bytes() const { return {begin, end}; }
};

}  // namespace fw::gpu
