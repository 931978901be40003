// Whether tiles may be used: the processor must have them, the system must save them, and this process must
// have asked for them.
#pragma once

#include <string>

namespace fw::cpu {

struct AmxState {
  bool tiles = false, bf16 = false;  // of the processor
  bool saved = false;                // by the system, when it switches threads
  bool permitted = false;            // to this process
};

// Asks the system for permission where all else is there. Permission is for the whole process and stays.
AmxState amx_here();

// Why tiles of bf16 may not be used; empty = they may.
std::string amx_missing(const AmxState& state);

}  // namespace fw::cpu
