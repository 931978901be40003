// How launches run: the order in which waves take turns, when results arrive, what is watched.
#pragma once
#include <cstdint>
#include <string>

#include "machine/wave.hpp"

namespace cdna {

// Waves take turns of `burst` instructions (0: up to the next barrier), forwards, backwards or at random.
struct Schedule {
  int burst = 16;
  bool backward = false;
  bool random = false;
  uint64_t seed = 0;

  // "16", "1", "-7" (backwards), "barrier", "-barrier", "random:SEED"; throws Error.
  static Schedule parse(const std::string& text);
  std::string text() const;
};

struct Settings {
  Schedule schedule;
  bool late = false;                 // results wait for the s_waitcnt that covers them
  bool groups_backward = false;      // the last workgroup first
  bool checks = false;               // use before s_waitcnt, barrier mismatch
  bool hazards = false;              // wait states; needs checks
  bool count_memory = false;         // LDS clocks, global transactions
  bool exact = false;                // MFMA as the hardware rounds
  uint32_t poison = kPoison;         // what registers and LDS hold at first
  int threads = 0;                   // host threads; 0: one a processor
  uint64_t wave_limit = 1ull << 36;  // instructions of one wave, after which it is taken to hang
};

}  // namespace cdna
