// Bytes of LDS that two waves touch without a barrier between them, at least one of them writing.
#pragma once
#include <cstdint>
#include <vector>

#include "machine/wave.hpp"

namespace cdna {

class Races {
 public:
  enum class Access : uint8_t { read, write, atomic };

  // Where one instruction touches LDS.
  struct Touch {
    uint32_t instruction;
    Access access;
    int bytes;  // a lane
    uint64_t lanes;
    uint32_t at[kLanes];
  };

  explicit Races(size_t lds_bytes);
  void restart();
  // All waves have passed one.
  void barrier() { ++now_; }
  // Faults when another wave has touched the same bytes since the last barrier.
  void touch(const Wave& w, const Touch& t);
  // The wave is not yet done with this.
  void go_on(int wave, const Touch& t);
  // A word of a load to LDS has arrived, since when it counts as written.
  void arrived(const Wave& w, uint32_t instruction, uint32_t word);

 private:
  // Of four bytes since the barrier with number `epoch`; a byte's part is 16 bits.
  struct Cell {
    uint32_t epoch = 0;
    uint32_t write_instruction = 0, read_instruction = 0;
    uint64_t readers = 0, writers = 0, atomics = 0;  // a bit for each wave
  };

  Cell& cell(size_t word);
  template <class F>
  void each_word(const Touch& t, F f);
  static void mark(Cell& c, int wave, const Touch& t, uint64_t bytes);
  [[noreturn]] static void report(const Wave& w, const Touch& t, int lane, const Cell& c, uint64_t wrote,
                                  uint64_t read);

  uint32_t now_ = 1;
  std::vector<Cell> cells_;
};

}  // namespace cdna
