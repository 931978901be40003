// The validity rules of a Problem, a row each: id, test, sentence.
#pragma once

#include <span>
#include <string_view>

#include "base/status.hpp"
#include "problem/problem.hpp"

namespace fw {

// First rule that refuses, else ok. Its id is in Status::rule().
Status check(const Problem& problem);

// The ids of all rules: of problems, of tensors (describe), of values (check_values) and of problem lines.
std::span<const std::string_view> rule_ids();

}  // namespace fw
