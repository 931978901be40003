#include "base/log.hpp"

#include <cstdio>

namespace fw {
namespace {

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
    case LogLevel::off: break;
  }
  return "";
}

}  // namespace

void print_log_line(LogLevel level, std::string_view text) {
  const std::string line = say("flashwave ", name_of(level), ": ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace fw
