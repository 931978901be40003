// Draws problems from the grammar, judges them, and makes those that fail small.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/numbers.hpp"

namespace tools {

struct FuzzOptions {
  CheckOptions check;
  std::uint64_t seed = 1;
  std::int64_t count = 0;  // problems to judge; 0 = until the time is over
  double seconds = 0;
  int most_failures = 5;  // then it ends
};

struct FuzzFailure {
  std::string line;   // shrunk
  std::string drawn;  // as it was found
  std::string why;
};

struct FuzzReport {
  std::int64_t passed = 0, refused = 0, declined = 0;
  std::vector<FuzzFailure> failures;
};

// "200" is a count, "30s" a time.
Outcome read_fuzz_amount(const std::string& text, FuzzOptions& options);

// The words of one line: legal for the most part, all features, small sizes. The same number draws the same
// line.
std::vector<std::string> draw_problem(std::uint64_t seed, std::uint64_t number);

FuzzReport fuzz(const FuzzOptions& options,
                const std::function<void(std::int64_t done, const std::string& line)>& progress);

// The smallest line, by dropping words and making numbers smaller, for which `fails` still holds.
std::string shrink(std::vector<std::string> words, const std::function<bool(const std::string& line)>& fails);

}  // namespace tools
