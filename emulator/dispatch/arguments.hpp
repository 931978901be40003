// Kernel arguments as a kernel reads them: the caller's, then the hidden ones.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "object/code_object.hpp"

namespace cdna {

struct Grid {
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::array<uint32_t, 3> threads{1, 1, 1};  // of a workgroup
  uint32_t dynamic_lds = 0;
};

// Throws Error when the caller gave fewer bytes than the kernel takes.
std::vector<uint8_t> kernel_arguments(const Kernel& k, const Grid& g, const void* given, size_t bytes);

// The caller's arguments, one pointer each, as one block.
std::vector<uint8_t> pack_arguments(const Kernel& k, void** each);

}  // namespace cdna
