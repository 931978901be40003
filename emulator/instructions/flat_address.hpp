// Addresses of global, flat and scratch instructions, and the shapes their names stand for.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "instructions/memory.hpp"

namespace cdna {

// `vaddr` is a pair of 64-bit addresses, or with a scalar base 32-bit offsets; `saddr` null: flat.
Addresses global_addresses(const Wave& w, const Instruction& i, const Operand& vaddr, const Operand* saddr);

// Lanes by the memory that their address means; `offset` within LDS or private memory.
struct FlatAccess {
  Addresses address;
  uint64_t global = 0, local = 0, scratch = 0;
  uint32_t offset[kLanes];
};
FlatAccess split_flat(const Wave& w, const Addresses& a);

void scratch_addresses(const Wave& w, const Instruction& i, const Operand& vaddr, const Operand& saddr,
                       uint32_t (&at)[kLanes]);

// Narrow loads extended to the word that lands in LDS.
Data extended(const Data& data, Shape shape);

using Shapes = std::vector<std::pair<std::string, Shape>>;
const Shapes& load_shapes();
const Shapes& store_shapes();
const Shapes& lds_load_shapes();

}  // namespace cdna
