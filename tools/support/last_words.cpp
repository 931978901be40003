#include "support/last_words.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace tools {

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
std::atomic<const char*> problems[64];
struct sigaction before[NSIG];

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

void speak(int signal, siginfo_t*, void*) {
  say("\nflashwave: internal: a fault while computing, one of\n");
  for (const auto& problem : problems)
    if (const char* line = problem.load(); line != nullptr) {
      say("  flashwave verify \"");
      say(line);
      say("\"\n");
    }
  sigaction(signal, &before[signal], nullptr);  // the fault happens again when this returns
}

}  // namespace

LastWords::LastWords(const std::string& line) {
  for (int i = 0; i < static_cast<int>(std::size(problems)) && slot_ < 0; ++i) {
    const char* nobody = nullptr;
    if (problems[i].compare_exchange_strong(nobody, line.c_str())) slot_ = i;
  }
}

LastWords::~LastWords() {
  if (slot_ >= 0) problems[slot_] = nullptr;
}

void speak_last_words() {
  struct sigaction action{};
  action.sa_sigaction = speak;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) sigaction(signal, &action, &before[signal]);
}

}  // namespace tools
