// What a function that can fail returns: a code, and one sentence that says what was wrong.
#pragma once

#include <string>
#include <utility>

namespace fw {

enum class Code : int {
  ok = 0,
  invalid = 1,      // the request contradicts the contract
  unsupported = 2,  // legal, but this device or build does not do it
  unavailable = 3,  // driver, device or kernels are missing
  exhausted = 4,    // memory
  internal = 5,     // a fault of ours
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, std::string rule = {})
      : code_(code), message_(std::move(message)), rule_(std::move(rule)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // The id of the validity rule that refused (src/problem/rules.cpp), or empty.
  const std::string& rule() const { return rule_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
  std::string rule_;
};

inline Status invalid(std::string message) { return {Code::invalid, std::move(message)}; }
inline Status unsupported(std::string message) { return {Code::unsupported, std::move(message)}; }
inline Status unavailable(std::string message) { return {Code::unavailable, std::move(message)}; }
inline Status exhausted(std::string message) { return {Code::exhausted, std::move(message)}; }

}  // namespace fw

// Passes a failure on to the caller.
#define FW_TRY(expression)                                                  \
  do {                                                                      \
    if (::fw::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)
