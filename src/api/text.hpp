// Text that the caller gets to keep, until flashwave_free.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/status.hpp"

namespace fw::api {

inline Status give_text(const std::string& text, char** out) {
  if (!out) return invalid("text is null");
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return {};
}

}  // namespace fw::api
