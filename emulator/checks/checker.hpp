// Watches the waves of a workgroup for what hardware hides: results used before they have arrived, and
// missing wait states.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "checks/hazards.hpp"
#include "decode/effects.hpp"
#include "machine/group.hpp"

namespace cdna {

class Checker {
 public:
  Checker(const Program& program, int waves, size_t lds_bytes, bool hazards);

  void restart();
  // Before a wave executes instruction number `index`.
  void before(Wave& w, uint32_t index);

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
  };
  struct WaveState {
    std::deque<Flight> flights[2];
    std::vector<uint32_t> vector_owner;  // 1 + instruction that still loads a register; 0: none
    std::vector<uint32_t> scalar_owner;
    std::vector<uint8_t> vector_counter;
    int in_flight = 0;
    Hazards hazards;
  };

  void check_registers(Wave& w, WaveState& s, uint32_t index);
  void complete(WaveState& s, Counter counter, size_t left);
  void begin(WaveState& s, uint32_t index);
  [[noreturn]] void unfinished(Wave& w, const std::string& what, uint32_t owner);

  const Program& program_;
  bool check_hazards_;
  std::vector<WaveState> waves_;
  std::vector<uint32_t> lds_owner_;  // 1 + instruction that still loads a word of LDS
};

}  // namespace cdna
