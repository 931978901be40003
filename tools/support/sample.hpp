// What the rounds of a measurement come to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tools {

inline constexpr double least_seconds = 0.05;  // of a measurement: short calls are repeated

struct Sample {
  std::vector<double> rounds;
  void add(double value) { rounds.push_back(value); }
  double last() const { return rounds.back(); }
  double median() const {
    std::vector<double> sorted = rounds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }
  // From the fastest round to the slowest, of the median.
  double spread() const {
    if (rounds.empty() || median() <= 0) return 0;
    const auto [least, most] = std::minmax_element(rounds.begin(), rounds.end());
    return (*most - *least) / median();
  }
};

}  // namespace tools
