#include "api/failure.hpp"

#include <cstring>

namespace fw::api {
namespace {

template <std::size_t size>
void copy(char (&to)[size], const char* from) noexcept {
  const std::size_t length = strnlen(from, size - 1);
  std::memcpy(to, from, length);
  to[length] = 0;
}

thread_local char message[1024];
thread_local char rule[64];

}  // namespace

int remember(Code code, const char* said, const char* rule_id) noexcept {
  copy(message, said);
  copy(rule, rule_id);
  return static_cast<int>(code);
}

const char* last_message() noexcept { return message; }
const char* last_rule() noexcept { return rule; }

}  // namespace fw::api
