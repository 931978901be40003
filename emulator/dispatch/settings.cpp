#include "dispatch/settings.hpp"

#include <cstdlib>

#include "base/error.hpp"

namespace cdna {

Schedule Schedule::parse(const std::string& text) {
  Schedule s;
  std::string rest = text;
  if (rest.rfind("random:", 0) == 0) {
    s.random = true;
    rest = rest.substr(7);
    char* end = nullptr;
    s.seed = std::strtoull(rest.c_str(), &end, 0);
    if (!rest.empty() && !*end) return s;
  } else {
    if (!rest.empty() && rest[0] == '-') {
      s.backward = true;
      rest = rest.substr(1);
    }
    if (rest == "barrier") {
      s.burst = 0;
      return s;
    }
    char* end = nullptr;
    const long burst = std::strtol(rest.c_str(), &end, 10);
    s.burst = static_cast<int>(burst);
    if (!rest.empty() && !*end && burst > 0 && burst <= 1000000) return s;
  }
  throw Error("schedule '" + text + "' is none of N, -N, barrier, -barrier, random:SEED");
}

Checks parse_checks(const std::string& text) {
  constexpr const char* kNames[] = {"none", "waits", "races", "all"};
  for (int n = 0; n < 4; ++n)
    if (text == kNames[n]) return static_cast<Checks>(n);
  throw Error("checks '" + text + "' is none of none, waits, races, all");
}

std::string Schedule::text() const {
  if (random) return "random:" + std::to_string(seed);
  return (backward ? "-" : "") + (burst ? std::to_string(burst) : std::string("barrier"));
}

}  // namespace cdna
