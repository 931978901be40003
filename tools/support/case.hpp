// A problem line, parsed: what is asked and how its data is made.
#pragma once

#include <flashwave/flashwave.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/outcome.hpp"

namespace tools {

struct Case {
  std::string line;  // canonical
  flashwave_problem problem = FLASHWAVE_INIT(flashwave_problem);
  std::uint64_t seed = 0;
  int values = FLASHWAVE_NORMAL;
  int layout = FLASHWAVE_BSHD;
  std::vector<std::int32_t> queries, keys, leftpad, diagonals;  // of each sequence; keys before an append

  bool forward() const { return problem.pass != FLASHWAVE_BACKWARD; }
  bool backward() const { return problem.pass != FLASHWAVE_FORWARD; }
  bool cached() const { return problem.lengths == FLASHWAVE_CACHE || problem.page_size > 0; }

  Outcome counts(int pass, flashwave_counts& out) const;
  // The case of one of the line's passes, without the outputs only the other one has.
  Outcome of_pass(int pass, Case& out) const;
  const char* dtype_name() const;

  std::shared_ptr<flashwave_case> handle;
};

Outcome parse_case(const std::string& line, Case& out);

}  // namespace tools
