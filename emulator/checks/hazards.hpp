// Wait states that the hardware does not insert: documented pairs of instructions that need others between
// them.
#pragma once
#include <array>
#include <cstdint>

#include "base/arch.hpp"

namespace cdna {

struct Wave;
struct Program;

class Hazards {
 public:
  void restart(Arch arch);
  // Faults when instruction `index` comes too soon after one before it.
  void before(Wave& w, const Program& p, uint32_t index);

 private:
  // The time, in wait states, at which something last happened; far in the past at first.
  using Time = int32_t;
  static constexpr Time kLongAgo = -1000;

  struct VectorRegister {
    Time valu = kLongAgo;          // written by a vector instruction
    Time trans = kLongAgo;         // by a transcendental one
    Time shifted = kLongAgo;       // by one that moves its result's bits (op_sel, SDWA)
    Time matrix = kLongAgo;        // by a matrix instruction
    Time wide_store = kLongAgo;    // read by a store of more than 64 bits
    Time matrix_input = kLongAgo;  // read as a matrix accumulator
    uint16_t matrix_first = 0;     // where that matrix instruction's result begins
    uint8_t passes = 0, input_passes = 0;
    bool matrix_is_single = false, matrix_is_double = false;
  };
  struct ScalarRegister {
    Time valu = kLongAgo, salu = kLongAgo;
  };
  struct Need;

  void check(Wave& w, const Program& p, uint32_t index) const;
  void check_matrix(Wave& w, const Program& p, uint32_t index) const;
  void note(const Program& p, uint32_t index);

  Arch arch_ = Arch::gfx942;
  Time now_ = 0;
  Time matrix_free_ = 0;  // when the matrix unit takes its next instruction
  std::array<VectorRegister, 512> vector_;
  std::array<ScalarRegister, 128> scalar_;
};

}  // namespace cdna
