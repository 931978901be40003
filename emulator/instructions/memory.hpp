// What loads, stores and atomics of global, private and LDS memory have in common.
#pragma once
#include <cstdint>

#include "instructions/operands.hpp"

namespace cdna {

// What one lane moves: the parameter of a memory instruction.
struct Shape {
  enum Half : uint8_t { whole, low, high };
  uint8_t bytes = 4;
  bool is_signed = false;
  Half half = whole;  // d16: into or from one half of a register

  constexpr uint16_t code() const { return static_cast<uint16_t>(bytes | is_signed << 8 | half << 9); }
  static constexpr Shape of(uint16_t code) {
    return {static_cast<uint8_t>(code & 0xff), (code >> 8 & 1) != 0, static_cast<Half>(code >> 9 & 3)};
  }
  constexpr int words() const { return (bytes + 3) / 4; }
};

// Up to four words a lane on their way.
struct Data {
  alignas(64) uint32_t word[4][kLanes];
};

struct Addresses {
  alignas(64) uint64_t lane[kLanes];
};

// Faults when a lane of `lanes` would touch memory that is not allocated.
void check_memory(Wave& w, const Addresses& a, uint64_t lanes, int bytes);

void note_global(const Wave& w, const Instruction& i, const Addresses& a, uint64_t lanes, int bytes);

// Values on their way into the registers of operand `o`: now, or at the s_waitcnt.
void finish_load(Wave& w, const Instruction& i, const Operand& o, const Data& data, uint64_t lanes,
                 Counter counter);
void finish_store(Wave& w, Counter counter);

// Writes loaded words as the shape has them.
void deliver(Wave& w, const Operand& o, Shape shape, const Data& data, uint64_t lanes);
// The words that a store sends.
void collect(const Wave& w, const Operand& o, Shape shape, Data& data);

void read_memory(const Addresses& a, uint64_t lanes, int bytes, Data& data);
void write_memory(const Addresses& a, uint64_t lanes, int bytes, const Data& data);

// LDS of the workgroup, from byte `at`; faults outside the allocation.
uint8_t* lds_at(Wave& w, uint64_t at, int bytes, int lane);
void note_lds(Wave& w, const Instruction& i, const uint32_t* at, uint64_t lanes, int bytes, bool read);

// Loads straight into LDS: lane n writes `bytes` at base + n * pitch; masked words are zero.
void finish_load_to_lds(Wave& w, const Instruction& i, uint32_t base, int bytes, const Data& data,
                        uint64_t lanes);

// Private memory: dword n of lane l lies at (64 n + l) * 4 of the wave's part.
void read_private(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, Data& data);
void write_private(Wave& w, const uint32_t* at, uint64_t lanes, int bytes, const Data& data);

}  // namespace cdna
