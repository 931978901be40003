// Lines to stderr, if FLASHWAVE_LOG asks for them: the only thing the library ever prints.
#pragma once

#include <string_view>

#include "base/env.hpp"
#include "base/text.hpp"

namespace fw {

inline bool logs(LogLevel level) { return level <= environment().log; }

// One line, whole even when threads log at once.
void print_log_line(LogLevel level, std::string_view text);

template <class... Parts>
void log(LogLevel level, const Parts&... parts) {
  if (logs(level)) print_log_line(level, say(parts...));
}

}  // namespace fw
