// What tests of the public interface are made with: tensors in memory that is NaN until written and ends at a
// page that faults, calls, and the judge.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/arena.hpp"
#include "support/judge.hpp"
#include "support/outputs.hpp"
#include "support/tensor.hpp"

namespace lab {

using Call = flashwave_attention;
using Index = std::initializer_list<std::int64_t>;
using tools::Form;
using tools::Shape;

inline constexpr int fp32 = FLASHWAVE_FP32, fp16 = FLASHWAVE_FP16, bf16 = FLASHWAVE_BF16;

class Lab {
 public:
  explicit Lab(std::uint64_t seed = 1) : seed_(seed), arena_(tools::Memory::guarded) {}

  // N(0,1); an element depends on the seed, the name and its place in the shape alone.
  flashwave_tensor normal(std::string_view name, int dtype, const Shape& shape, Form form = Form::rows);
  flashwave_tensor constant(float value, int dtype, const Shape& shape);
  flashwave_tensor unwritten(int dtype, const Shape& shape, Form form = Form::rows);
  flashwave_tensor ints(const std::vector<std::int32_t>& values);
  flashwave_tensor table(const std::vector<std::vector<std::int32_t>>& rows);
  flashwave_tensor copy_of(const flashwave_tensor& t, Form form = Form::rows);

  // Inputs of a call over fresh q, k and v: (B,Sq,Hq,D), (B,Sk,Hk,D), (B,Sk,Hk,Dv), or without B when 0.
  struct Sizes {
    std::int64_t batch = 1, seq_q = 1, seq_k = 1, heads_q = 1, heads_k = 1, dim = 64, dim_v = 0;
  };
  Call inputs(int dtype, const Sizes& sizes);

  // Runs and expects success. forward adds out and lse where they are missing, backward continues from a
  // forward call with a gradient (drawn, if the call has none).
  Call forward(Call inputs, tools::Wants wants = {.lse = true});
  Call backward(const Call& done, tools::Wants wants = {});

  tools::Arena& arena() { return arena_; }

 private:
  std::uint64_t seed_;
  tools::Arena arena_;
};

// Masks. has_window is what makes the sides count.
void set_window(Call& call, int left, int right);
inline void set_causal(Call& call) { set_window(call, -1, 0); }

float value(const flashwave_tensor& t, Index index);
void set(const flashwave_tensor& t, Index index, float x);
// Elements in the order of the shape.
std::vector<float> values(const flashwave_tensor& t);
std::vector<unsigned char> bits(const flashwave_tensor& t);
std::vector<unsigned char> bits(std::initializer_list<flashwave_tensor> tensors);
// One position of an axis, without the axis.
flashwave_tensor at(flashwave_tensor t, int axis, std::int64_t position);

float largest_difference(const flashwave_tensor& a, const flashwave_tensor& b);
void expect_all(const flashwave_tensor& t, float x);
void expect_near(const flashwave_tensor& a, const flashwave_tensor& b, float bound);

// Judges every output of a call that ran against the oracle. After an append the cache is no longer what it
// was: `before` is the call with caches that still are.
void expect_right(const Call& before, const Call& done);
inline void expect_right(const Call& done) { expect_right(done, done); }
// The call must be refused, by that rule and in a sentence that names `word`; outputs stay as they were.
void expect_refused(Call call, const std::string& rule, const std::string& word);

}  // namespace lab
