// Watches the waves of a workgroup for what hardware hides: results used before they have arrived, missing
// barriers and missing wait states.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "checks/hazards.hpp"
#include "checks/races.hpp"
#include "decode/effects.hpp"
#include "machine/group.hpp"

namespace cdna {

// What is looked for besides results used before they have arrived.
struct Watch {
  bool races = false, hazards = false;
};

class Checker {
 public:
  Checker(const Program& program, int waves, size_t lds_bytes, Watch watch);

  void restart();
  // Before a wave executes instruction number `index`.
  void before(Wave& w, uint32_t index);

  // All waves have passed one.
  void barrier();

  // LDS is about to be read or written at these places.
  void touch_lds(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, bool read);
  // A load straight into LDS has begun.
  void load_to_lds(Wave& w, const Instruction& i, uint32_t base, int pitch, int bytes, uint64_t lanes);

 private:
  struct Flight {
    uint32_t instruction;
    std::vector<RegisterSpan> registers;
    std::vector<uint32_t> words;  // of LDS
    bool unordered;
    uint32_t touches;  // the number of its first access to LDS
  };
  struct WaveState {
    std::deque<Flight> flights[2];
    std::vector<uint32_t> vector_owner;  // 1 + instruction that still loads a register; 0: none
    std::vector<uint32_t> scalar_owner;
    std::vector<uint8_t> vector_counter;
    int in_flight = 0;
    // Accesses to LDS of the local instructions in flight, and the number of the first one that is kept.
    std::vector<Races::Touch> touches;
    uint32_t first_touch = 0;
    Hazards hazards;
  };

  void check_registers(Wave& w, WaveState& s, uint32_t index);
  void complete(const Wave& w, WaveState& s, Counter counter, size_t left);
  void begin(WaveState& s, uint32_t index);
  void forget_touches(WaveState& s);
  void note_race(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, bool read);
  [[noreturn]] void unfinished(Wave& w, const std::string& what, uint32_t owner);

  const Program& program_;
  Watch watch_;
  Races races_;
  std::vector<WaveState> waves_;
  std::vector<uint32_t> lds_owner_;  // 1 + instruction that still loads a word of LDS
};

}  // namespace cdna
