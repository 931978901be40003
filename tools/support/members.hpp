// The tensors of a call by name: which there are, who writes them, and where their heads stand.
#pragma once

#include <flashwave/flashwave.h>

#include <span>
#include <string_view>

namespace tools {

enum class Heads { none, query, key };
enum class Part {
  input,     // read by both passes (k and v are also written by an append)
  answer,    // out and lse: written by forward, read by backward
  extra,     // forward output: the dropout mask
  incoming,  // read by backward only
  gradient   // written by backward
};

struct Member {
  std::string_view name;
  flashwave_tensor flashwave_attention::* tensor;
  Part part;
  Heads heads = Heads::none;
  int from_end = 0;  // the head axis, counted from the last dimension, which is 1
};

std::span<const Member> members();

// Whether the call writes the tensor: its outputs, and a cache that is appended to.
bool is_written(const Member& member, const flashwave_attention& call);

// The part of a call that the q heads of one kv head make up: views into the same memory.
flashwave_attention of_kv_head(const flashwave_attention& call, std::int64_t head);

// Calls of one pass with the outputs still absent.
flashwave_attention forward_of(const flashwave_attention& call);
flashwave_attention backward_of(const flashwave_attention& call);

}  // namespace tools
