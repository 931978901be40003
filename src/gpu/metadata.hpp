// What a code object says of its kernel: registers, spills, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fw::gpu {

struct Metadata {
  int vgprs = 0;  // vector registers of a lane, those that only matrix instructions reach included
  int agprs = 0, sgprs = 0, vgpr_spills = 0, sgpr_spills = 0;
  int private_bytes = 0, lds_bytes = 0, kernarg_bytes = 0;
  int threads = 0;  // most of a workgroup
  std::uint64_t code_bytes = 0;
};

// Nothing when the object is damaged or does not hold the kernel.
std::optional<Metadata> read_metadata(std::span<const unsigned char> object, std::string_view kernel);

// Waves that share a SIMD, as far as registers and LDS allow; `threads` of a workgroup.
int occupancy(const Metadata& metadata, std::string_view arch, int threads);

}  // namespace fw::gpu
