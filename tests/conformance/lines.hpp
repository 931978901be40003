// Runs problem lines and keeps the bits of everything they wrote.
#pragma once

#include <string>
#include <vector>

#include "lab/lab.hpp"

namespace lab {

// What the passes of a line wrote: out, lse and gradients in the order of their shapes, so that layouts
// compare.
std::vector<unsigned char> bits_of_line(const std::string& line);

}  // namespace lab
