// The instruction sets of this build, and which of them may be used here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "base/status.hpp"
#include "cpu/kernels.hpp"
#include "plan/choose.hpp"

namespace fw::cpu {

struct Offer {
  const Isa* isa;
  std::string missing;  // why it may not be used; empty = it may
};

// Every instruction set of this build, best first, judged by what the processor says of itself.
std::vector<Offer> offers_here();

// FLASHWAVE_CPU_ISA: leaves only the wanted one. Unavailable, naming those there are, when it is none of
// them.
Status force(std::string_view wanted, std::vector<Offer>& offers);

// What the planner chooses from, and what a plan chose. Instruction sets may share the kernels of a type.
std::vector<Instance> instances_of(const std::vector<Offer>& offers, const Problem& problem);
const Isa& isa_of(const Plan& plan, const std::vector<Offer>& offers);

const Isa& best_of(const std::vector<Offer>& offers);
const Kernels& kernels_of(const Isa& isa, DType dtype);

// About how long one thread takes: for comparing candidates, and for telling short calls from long ones.
double modelled_seconds(const Isa& isa, const Problem& problem);

}  // namespace fw::cpu
