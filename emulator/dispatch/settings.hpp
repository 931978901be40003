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

// How much is checked beyond bounds, in levels: each has those before it.
enum class Checks : uint8_t {
  none,
  waits,  // results used before their s_waitcnt, barriers that do not match
  races,  // in LDS
  all,    // wait states
};
Checks parse_checks(const std::string& text);

struct Settings {
  Schedule schedule;
  bool late = false;             // results wait for the s_waitcnt that covers them
  bool groups_backward = false;  // the last workgroup first
  bool compare = false;          // every launch again in other orders: equal bits or a fault
  Checks checks = Checks::none;
  bool count_memory = false;         // LDS clocks, global transactions
  bool exact = false;                // MFMA as the hardware rounds
  uint32_t poison = kPoison;         // what registers and LDS hold at first
  int threads = 0;                   // host threads; 0: one a processor
  uint64_t wave_limit = 1ull << 30;  // instructions of one wave, after which it is taken to hang
};

}  // namespace cdna
