// Every table of instructions.
#pragma once
#include <vector>

#include "decode/definition.hpp"

namespace cdna {

using Definitions = std::vector<Definition>;

Definitions scalar_alu();
Definitions scalar_compare();
Definitions scalar_control();
Definitions register_index();
Definitions scalar_memory();
Definitions vector_single();
Definitions vector_half();
Definitions vector_double();
Definitions vector_integer();
Definitions vector_short();
Definitions vector_carry();
Definitions vector_convert();
Definitions vector_small_float();
Definitions vector_packed();
Definitions vector_dot();
Definitions vector_compare();
Definitions cross_lane();
Definitions local_access();
Definitions local_atomic();
Definitions local_exchange();
Definitions global_access();
Definitions buffer_access_table();
Definitions memory_atomic();
Definitions matrix();

inline constexpr Definitions (*kInstructionTables[])() = {
    scalar_alu,    scalar_compare, scalar_control,     register_index,      scalar_memory, vector_single,
    vector_half,   vector_double,  vector_integer,     vector_short,        vector_carry,  vector_convert,
    vector_packed, vector_dot,     vector_small_float, vector_compare,      cross_lane,    local_access,
    local_atomic,  local_exchange, global_access,      buffer_access_table, memory_atomic, matrix};

}  // namespace cdna
