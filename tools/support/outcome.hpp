// What a step of the command came to: ok, or a code of the library's and one sentence.
#pragma once

#include <flashwave/flashwave.h>

#include <string>
#include <utility>

namespace tools {

class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(int code, std::string message, std::string rule = {})
      : code_(code), message_(std::move(message)), rule_(std::move(rule)) {}

  // What the library just answered on this thread.
  static Outcome of(int code) {
    if (code == FLASHWAVE_OK) return {};
    return {code, flashwave_message(), flashwave_rule()};
  }

  bool ok() const { return code_ == FLASHWAVE_OK; }
  int code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& rule() const { return rule_; }  // the validity rule that refused, or ""

 private:
  int code_ = FLASHWAVE_OK;
  std::string message_;
  std::string rule_;
};

inline Outcome invalid(std::string message) { return {FLASHWAVE_INVALID, std::move(message)}; }
inline Outcome unavailable(std::string message) { return {FLASHWAVE_UNAVAILABLE, std::move(message)}; }

// What the command exits with; see docs/semantics.md.
enum class Exit : int { ok = 0, check_failed = 1, invalid = 2, cannot = 3, internal = 4 };

inline Exit exit_of(const Outcome& outcome) {
  switch (outcome.code()) {
    case FLASHWAVE_OK: return Exit::ok;
    case FLASHWAVE_INVALID: return Exit::invalid;
    case FLASHWAVE_UNSUPPORTED:
    case FLASHWAVE_UNAVAILABLE:
    case FLASHWAVE_EXHAUSTED: return Exit::cannot;
    default: return Exit::internal;
  }
}

}  // namespace tools

// Passes a failure on to the caller.
#define TOOLS_TRY(expression)                                                      \
  do {                                                                             \
    if (::tools::Outcome outcome_ = (expression); !outcome_.ok()) return outcome_; \
  } while (false)
