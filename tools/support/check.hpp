// Runs a case on a device and judges everything it wrote.
#pragma once

#include <string>

#include "support/case.hpp"
#include "support/judge.hpp"
#include "support/memory.hpp"

namespace tools {

struct CheckOptions {
  std::string device = "cpu";
  Memory memory = Memory::guarded;
  bool repeat = true;  // a second run, laid out otherwise and without a workspace, must give equal bits
  JudgeOptions judge;
};

// Adds to the verdict. A failure means that the case did not run: the device declined, or memory is short.
Outcome check_case(const Case& c, const CheckOptions& options, Verdict& verdict);

}  // namespace tools
