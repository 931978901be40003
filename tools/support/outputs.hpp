// Fresh memory for what a call writes, and running it on a device.
#pragma once

#include <optional>

#include "support/arena.hpp"
#include "support/outcome.hpp"

namespace tools {

struct Wants {
  bool lse = false, mask = false, dbias = false, dsink = false;
};

// Where the outputs of a call go: their form, and the dtype of the floating ones (0 = that of the inputs they
// match).
struct Style {
  Form form = Form::rows;
  bool packed = false;
  int dtype = FLASHWAVE_NONE;
};

// Gives a forward or backward call, made by forward_of or backward_of, the outputs it lacks. An appended
// cache is written too, so the call gets a copy of it.
void add_outputs(flashwave_attention& call, const Wants& wants, const Style& style, Arena& arena);

// Runs the call on the device, on copies of its tensors where they cannot be used as they are; with a
// workspace of that kind of memory and exactly the size the call asks for, or without one.
Outcome run_on(const char* device, flashwave_attention call, std::optional<Memory> workspace);

}  // namespace tools
