// Buffer addressing: a resource of four scalars, an index, offsets, range checks and swizzles.
#pragma once
#include "instructions/memory.hpp"

namespace cdna {

// Where each word of each lane lies. Words out of range read zero and are not written.
struct BufferAccess {
  Addresses word[4];
  uint64_t lanes[4] = {};  // in range, for each word
  int words = 1;
  bool contiguous = true;  // words follow one another: word[0] is enough
  uint64_t any() const { return lanes[0] | lanes[1] | lanes[2] | lanes[3]; }
};

// `vaddr` is the operand of the vector address; resource and scalar offset follow it.
BufferAccess buffer_access(const Wave& w, const Instruction& i, const Operand* vaddr, int bytes);

void check_buffer(Wave& w, const BufferAccess& b, int bytes);
void read_buffer(const BufferAccess& b, int bytes, Data& data);
void write_buffer(const BufferAccess& b, int bytes, const Data& data);

}  // namespace cdna
