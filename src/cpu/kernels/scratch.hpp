// Carves a worker's scratch memory into arrays. Without a base it only counts, so that the same lines that
// use the memory also say how much of it there must be.
#pragma once

#include "meaning/target.hpp"

namespace fw::FLASHWAVE_TARGET {

class Scratch {
 public:
  explicit Scratch(void* base) : base_((char*)base) {}

  template <class T>
  T* take(i64 count) {
    T* array = (T*)(base_ + used_);
    used_ += ((u64)count * sizeof(T) + 63) / 64 * 64;
    return array;
  }
  u64 used() const { return used_; }

 private:
  char* base_;
  u64 used_ = 0;
};

}  // namespace fw::FLASHWAVE_TARGET
