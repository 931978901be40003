// When a call faults, says which problems were being computed: a fault behind a guard page must not be a
// riddle.
#pragma once

#include <string>

namespace tools {

// Names a problem for as long as it lives. The text must outlive it.
class LastWords {
 public:
  explicit LastWords(const std::string& line);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  int slot_ = -1;
};

// From now on SIGSEGV, SIGBUS, SIGILL and SIGFPE print the problems, then do what they did before.
void speak_last_words();

}  // namespace tools
