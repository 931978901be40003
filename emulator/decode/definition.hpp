// What the tables say of a mnemonic.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/arch.hpp"
#include "decode/instruction.hpp"

namespace cdna {

enum class Class : uint8_t {
  scalar,
  scalar_memory,
  vector,
  transcendental,
  packed,
  conversion,
  accumulator_move,
  matrix,
  lds_read,
  lds_write,
  lds_atomic,
  lds_permute,
  load,
  store,
  atomic,
  load_to_lds,
  barrier,
  wait,
  nop,
  branch,
  other,
};
constexpr int kClasses = static_cast<int>(Class::other) + 1;
const char* class_name(Class c);

// How a source operand reads a constant.
enum class Type : uint8_t { bits, half, brain, single, fp64, signed64, unsigned64 };

// The parameter of mixed-precision instructions: without op_sel_hi in the text they mean fp32, not high
// halves.
constexpr uint16_t kDefaultLow = 0x8000;

struct Definition {
  std::string name;
  Handler run = nullptr;
  Class kind = Class::other;
  uint8_t destinations = 1;       // leading operands that are written
  bool accumulates = false;       // also reads its first operand
  bool writes_sources = false;    // swaps
  uint16_t parameter = 0;         // for the handler: dwords, opcode variant
  uint8_t only = 0;               // a bit for each Arch that has it; 0: all
  uint16_t clocks = 4;            // of its pipe, for one wave
  uint8_t passes = 0;             // of a matrix instruction, in units of 4 clocks
  std::array<Type, 4> sources{};  // of the operands behind the destinations
};

// The mnemonic without _e32, _e64, _dpp, _sdwa.
std::string base_mnemonic(std::string_view mnemonic);

const Definition* find_definition(std::string_view base, Arch arch);

}  // namespace cdna
