// Every environment variable of the library, read in one place, once.
#pragma once

#include <string>

#include "base/status.hpp"

namespace fw {

// off: nothing is printed. Each level prints those before it too.
enum class LogLevel { off, error, info, debug };

struct Environment {
  std::string cpu_isa;  // FLASHWAVE_CPU_ISA: portable, avx2, avx512, ...; empty = the best there is
  int threads = 0;      // FLASHWAVE_THREADS: a cap; 0 = none
  std::string
      hip_library;  // FLASHWAVE_HIP_LIBRARY: a path; empty = the usual names. Ignored in setuid programs
  bool validate = false;         // FLASHWAVE_VALIDATE: 1 = GPU calls copy indices to the host and check them
  LogLevel log = LogLevel::off;  // FLASHWAVE_LOG: error, info, debug
  std::string tuning;            // FLASHWAVE_TUNING: a file, made when missing

  // What a variable holds that it cannot mean; the other variables are read all the same.
  Status status;
};

Environment read_environment();

// As it was at the first question.
const Environment& environment();

}  // namespace fw
