// libLLVM's disassembler for one architecture, opened at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/arch.hpp"

namespace cdna {

class Disassembler {
 public:
  explicit Disassembler(Arch arch);  // throws Error when no libLLVM that knows it can be opened
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction at `code` as text; returns its bytes, 0 when they are no instruction.
  size_t decode(std::string& text, const uint8_t* code, size_t bytes, uint64_t address) const;

 private:
  void* context_ = nullptr;
};

}  // namespace cdna
