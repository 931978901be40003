// The state of one wave of 64 lanes.
#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>

#include "base/arch.hpp"
#include "decode/instruction.hpp"
#include "machine/float_mode.hpp"

namespace cdna {

struct Group;
struct Program;
struct Region;

constexpr int kLanes = 64;
constexpr int kRegisters = 512;  // VGPRs, then AGPRs from accum_offset on
constexpr int kSpareRows = 12;   // for DPP and SDWA: three operands of two rows, results
constexpr int kRows = kRegisters + kSpareRows;
constexpr uint32_t kPoison = 0x7fc0dead;  // a quiet NaN that no kernel computes
constexpr uint64_t kAllLanes = ~0ull;

enum class State : uint8_t { running, at_barrier, finished };

// What s_waitcnt counts.
enum class Counter : uint8_t { vector_memory, local };

// Something an instruction started whose effect comes later.
struct Late {
  std::function<void(Wave&)> finish;
  bool unordered = false;  // scalar loads return in any order
};

struct Wave {
  alignas(64) uint32_t v[kRows][kLanes];
  uint32_t s[kScalars];
  bool scc = false;
  State state = State::running;
  bool late = false;  // effects wait for s_waitcnt
  Arch arch = Arch::gfx942;
  uint32_t pc = 0;  // index of the next instruction
  uint32_t mode = FloatMode::kIeee;
  int index = 0;               // in its workgroup
  uint64_t scratch = 0;        // its private memory: dword n of lane l at (64 n + l) * 4
  uint64_t scratch_bytes = 0;  // a lane
  bool exact = false;          // MFMA arithmetic
  Group* group = nullptr;
  const Program* program = nullptr;
  const Region* region = nullptr;  // that its last access hit
  std::deque<Late> pending[2];

  uint64_t pair(int index) const {
    uint64_t x;
    std::memcpy(&x, s + index, sizeof x);
    return x;
  }
  void set_pair(int index, uint64_t x) { std::memcpy(s + index, &x, sizeof x); }
  uint64_t exec() const { return pair(kExec); }
  uint64_t vcc() const { return pair(kVcc); }
  const Instruction& current() const;

  // Runs `finish` now, or at the s_waitcnt that covers it.
  template <class F>
  void later(Counter counter, F&& finish, bool unordered = false) {
    if (!late) return finish(*this);
    push(counter, {std::forward<F>(finish), unordered});
  }
  void push(Counter counter, Late late);
  // Completes the oldest until `left` remain.
  void settle(Counter counter, size_t left);
  void poison(const Operand& o, uint64_t lanes);
};

}  // namespace cdna
