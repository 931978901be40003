// The tensors of a Call by name: which pass reads or writes each, its element type and its dimensions.
#pragma once

#include <span>
#include <string_view>

#include "problem/call.hpp"
#include "problem/shapes.hpp"

namespace fw {

enum class Use { unused, in, optional_in, out, optional_out };

// Element types a tensor may have. Where a rule of the Problem decides, it is `by_rule`.
enum class Kind { own, by_rule, like_bias, like_sink, like_cos, fp32, int32, uint8 };

struct TensorRow {
  std::string_view name;
  View Call::* member;
  Use forward, backward;
  Kind kind;
  Dims dims;

  Use use(Pass pass) const { return pass == Pass::backward ? backward : forward; }
};

// Ordered so that a tensor that says how long a dimension is stands before those that must agree.
std::span<const TensorRow> tensor_rows();

// Whether the call writes the tensor: outputs, and a cache that is appended to.
bool is_written(const TensorRow& row, const Call& call);

// The dimensions that the tensor has in this call: sequences may be ragged, caches paged, ALiBi slopes
// shared.
Dims dims_in(const TensorRow& row, const Call& call);

// Ranks, element types, data and strides: what can be said of each tensor alone.
Status check_tensors(const Call& call);

// No output shares memory with itself or with any other tensor.
Status check_overlaps(const Call& call);

}  // namespace fw
