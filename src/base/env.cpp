#include "base/env.hpp"

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace fw {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A library that the program will load code from must not be named by whoever starts a setuid program.
std::string variable_unless_setuid(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

void read_threads(Environment& out, std::string_view value) {
  if (value.empty()) return;
  const auto threads = number_in<int>(value);
  if (threads && *threads >= 1)
    out.threads = *threads;
  else
    out.status = invalid(say("FLASHWAVE_THREADS is ", in_quotes(value), "; it is a whole number from 1"));
}

void read_validate(Environment& out, std::string_view value) {
  out.validate = value == "1";
  if (!value.empty() && value != "0" && value != "1")
    out.status = invalid(say("FLASHWAVE_VALIDATE is ", in_quotes(value), "; it is 0 or 1"));
}

void read_log(Environment& out, std::string_view value) {
  if (value.empty() || value == "off") return;
  if (value == "error")
    out.log = LogLevel::error;
  else if (value == "info")
    out.log = LogLevel::info;
  else if (value == "debug")
    out.log = LogLevel::debug;
  else
    out.status = invalid(say("FLASHWAVE_LOG is ", in_quotes(value), "; it is off, error, info or debug"));
}

}  // namespace

Environment read_environment() {
  Environment out;
  out.cpu_isa = variable("FLASHWAVE_CPU_ISA");
  out.hip_library = variable_unless_setuid("FLASHWAVE_HIP_LIBRARY");
  out.tuning = variable("FLASHWAVE_TUNING");
  read_threads(out, variable("FLASHWAVE_THREADS"));
  read_validate(out, variable("FLASHWAVE_VALIDATE"));
  read_log(out, variable("FLASHWAVE_LOG"));
  return out;
}

const Environment& environment() {
  static const Environment once = read_environment();
  return once;
}

}  // namespace fw
