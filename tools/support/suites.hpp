// Suites: text files of problem lines.
//
//   # a comment
//   fwd b2 hq4 sq100 d64 bf16 causal        must be right
//   may-decline: fwd ... fp8e4m3fn          must be right where the device takes it
//   refuse heads-divide: fwd hq3 hkv2 ...   must be refused, by that rule
#pragma once

#include <string>
#include <vector>

#include "support/outcome.hpp"

namespace tools {

struct CaseLine {
  enum class Kind { plain, may_decline, refuse };
  Kind kind = Kind::plain;
  std::string rule;   // of refuse
  std::string line;   // the problem
  std::string where;  // "file:12", or "" from the command line
};

// False for comments and empty lines.
bool read_case_line(const std::string& text, CaseLine& out);

// Appends a file's lines.
Outcome read_suite_file(const std::string& path, std::vector<CaseLine>& lines);

// Appends the suite NAME.<extension>, or every such file for "all". It is looked for in `directory` if that
// is given, else in the source tree the command was built from, else where it was installed to.
Outcome read_suite(const std::string& name, const std::string& extension, const std::string& directory,
                   std::vector<CaseLine>& lines);

}  // namespace tools
