// Judges what a device computed against the oracle, by the accuracy rule and by what must be exact: empty
// rows, the dropout mask, appended caches, infinities of lse.
#pragma once

#include <flashwave/flashwave.h>

#include <string>
#include <vector>

#include "support/outcome.hpp"
#include "support/tally.hpp"

namespace tools {

// How far one output was from the oracle, at worst.
struct Measured {
  std::string name;
  double max_error = 0, bound = 0, mean_error = 0;
};

struct Verdict {
  std::vector<Tally> tensors;
  Measured lse;  // has bounds of its own; no name = not judged
  std::vector<std::string> faults;
  std::int64_t heads_judged = 0, heads = 0;  // kv heads

  bool passed() const { return faults.empty(); }
  std::vector<Measured> measured() const;
};

struct JudgeOptions {
  bool all_heads = false;     // else calls above the limit are judged on four kv heads
  double sample_above = 2e9;  // flop
  const char* oracle = "reference";
  const char* yardstick = "eager";
};

// `before` holds the inputs as they were (an append changes its caches), `done` is the call that ran. The
// verdict is added to. A failure means that it could not be judged.
Outcome judge(const flashwave_attention& before, const flashwave_attention& done, const JudgeOptions& options,
              Verdict& verdict);

}  // namespace tools
