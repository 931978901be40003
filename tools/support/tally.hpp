// The accuracy rule: how far a tensor may be from the oracle, measured by how far plain arithmetic of the
// same precision is (docs/semantics.md, "Accuracy").
#pragma once

#include <flashwave/flashwave.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tools {

struct Rule {
  double factor = 2;    // of eager's largest error
  double floor = 1e-5;  // the noise of fp32 sums, which no yardstick measures
};

class Tally {
 public:
  Tally(std::string name, Rule rule) : name_(std::move(name)), rule_(rule) {}

  // All three have one shape. Rows (of the last dimension) with zero_rows set hold exact zeros; +0 if
  // `positive`.
  void add(const flashwave_tensor& got, const flashwave_tensor& oracle, const flashwave_tensor& eager,
           const std::vector<char>& zero_rows, bool positive);

  const std::string& name() const { return name_; }
  double max_error() const { return max_; }
  double bound() const;  // of the largest error
  double mean_error() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  double mean_bound() const;  // infinite where the rule does not apply
  // Empty when all is well, else what is wrong in a sentence.
  std::string fault() const;

 private:
  bool few() const;  // too few elements for their mean and largest error to be typical
  void compare(const flashwave_tensor& got, std::int64_t offset, double want, double yardstick,
               std::int64_t index, bool zero, bool positive);

  std::string name_;
  Rule rule_;
  int dtype_ = FLASHWAVE_FP32;  // of the tensor
  std::int64_t count_ = 0;
  double max_ = 0, sum_ = 0, eager_max_ = 0, eager_sum_ = 0, largest_ = 0;
  std::string worst_;  // where, what came, what should have
  std::string hard_;   // a fault that no error bound excuses
};

// "out[0,3,1,7]" of an element's number in the order of the shape.
std::string place(const std::string& name, const flashwave_tensor& t, std::int64_t index);

// Whether the memory still holds what it was filled with before the call.
bool unwritten(const flashwave_tensor& t, std::int64_t offset);

}  // namespace tools
