// How a Problem will be run: immutable, computed once, cached by Problem and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace fw {

// One way to run a problem, and why it is not taken; explain prints them all.
struct Candidate {
  std::string name;
  std::string declined;  // empty = possible
  double cost = 0;       // modelled seconds, lowest possible one is taken
};

struct Plan {
  Problem problem;
  std::string device;             // "cpu"
  std::string instance;           // kernel instance, e.g. "avx512bf16/bf16/scored"
  std::string loader;             // how keys are found: dense, varlen, paged
  int tile_q = 0, tile_k = 0;     // rows and keys of a tile
  int splits = 1;                 // key ranges computed apart and merged
  std::int64_t split_keys = 0;    // keys a split when that is fixed (deterministic), else 0
  int chunks = 1;                 // backward: key ranges with a dq of their own
  std::size_t workspace = 0;      // bytes a call needs beside its tensors, whatever the threads
  std::size_t thread_bytes = 0;   // scratch of one worker, owned by the backend
  std::size_t partial_bytes = 0;  // part of workspace that holds split partials
  std::vector<Candidate> candidates;
};

}  // namespace fw
