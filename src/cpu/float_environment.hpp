// Rounding mode, flush-to-zero and traps as the language's default has them, until the end of a scope:
// results must not depend on what the caller set for its own arithmetic, and the caller finds it as it was.
#pragma once

#include <cfenv>

namespace fw::cpu {

class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&callers_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace fw::cpu
