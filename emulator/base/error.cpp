#include "base/error.hpp"

#include <cstdio>

namespace cdna {

std::string hex(unsigned long long value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", value);
  return text;
}

}  // namespace cdna
