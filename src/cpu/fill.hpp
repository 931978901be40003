// Outputs that no kernel writes: rows beyond a sequence's length, slots and pages that no sequence uses.
#pragma once

#include "problem/call.hpp"

namespace fw::cpu {

// Every element of the tensor: zero (any type), or a value (fp32 only). An absent tensor is left alone.
void fill_zero(const View& view);
void fill_value(const View& view, float value);

}  // namespace fw::cpu
