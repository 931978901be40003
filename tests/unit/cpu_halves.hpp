// How one instruction set converts rows of 16-bit values. Compiled apart from the test (cpu_halves.cpp, with
// the flags of the instruction set), so that nothing of GoogleTest is compiled for a machine that this is
// not.
#pragma once

struct RowConversions {
  const char* isa;
  int lanes;
  void (*widen_fp16)(float* to, const unsigned short* from, int count);
  void (*narrow_fp16)(unsigned short* to, const float* from, int count);
  void (*widen_bf16)(float* to, const unsigned short* from, int count);
  void (*narrow_bf16)(unsigned short* to, const float* from, int count);
};
