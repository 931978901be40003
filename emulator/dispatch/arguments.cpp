#include "dispatch/arguments.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "machine/group.hpp"

namespace cdna {
namespace {

constexpr size_t kSpare = 256;  // descriptors may state no size; reads beyond find zeros

uint64_t hidden_value(const std::string& kind, const Grid& g) {
  const auto axis = [&kind]() { return kind.back() - 'x'; };
  if (kind.rfind("hidden_block_count_", 0) == 0) return g.groups[axis()];
  if (kind.rfind("hidden_group_size_", 0) == 0) return g.threads[axis()];
  if (kind == "hidden_grid_dims")
    return g.groups[2] * g.threads[2] > 1 ? 3 : g.groups[1] * g.threads[1] > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size") return g.dynamic_lds;
  if (kind == "hidden_private_base") return kPrivateBase >> 32;
  if (kind == "hidden_shared_base") return kSharedBase >> 32;
  return 0;  // offsets, remainders, and services that this runtime does not have
}

}  // namespace

std::vector<uint8_t> kernel_arguments(const Kernel& k, const Grid& g, const void* given, size_t bytes) {
  const size_t wanted = k.explicit_kernarg_bytes();
  if (bytes < wanted)
    throw Error("kernel " + k.name + " takes " + std::to_string(wanted) + " bytes of arguments, " +
                std::to_string(bytes) + " were given");
  std::vector<uint8_t> block(std::max<size_t>(k.kernarg_bytes(), bytes) + kSpare);
  if (bytes) std::memcpy(block.data(), given, bytes);
  for (const Argument& a : k.notes.arguments) {
    if (!a.hidden() || a.size > 8 || a.offset + a.size > block.size()) continue;
    const uint64_t value = hidden_value(a.kind, g);
    std::memcpy(block.data() + a.offset, &value, a.size);
  }
  return block;
}

std::vector<uint8_t> pack_arguments(const Kernel& k, void** each) {
  std::vector<uint8_t> block(k.explicit_kernarg_bytes());
  size_t n = 0;
  for (const Argument& a : k.notes.arguments) {
    if (a.hidden()) continue;
    if (!each || !each[n])
      throw Error("argument " + std::to_string(n) + " of kernel " + k.name + " is missing");
    if (a.offset + a.size > block.size()) throw Error("the metadata of kernel " + k.name + " is malformed");
    std::memcpy(block.data() + a.offset, each[n++], a.size);
  }
  return block;
}

}  // namespace cdna
