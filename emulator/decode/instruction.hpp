// One decoded instruction: handler, operands, modifiers.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace cdna {

struct Wave;
struct Instruction;
struct Definition;
using Handler = void (*)(Wave&, const Instruction&);

// Numbers of scalar registers, as the encoding counts them.
enum ScalarRegister : uint16_t {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kTrapTemp = 108,
  kM0 = 124,
  kExec = 126,
  kScalars = 128,
};

enum class OperandKind : uint8_t {
  none,
  vector,  // a row of the register file; AGPRs come after the kernel's accum_offset
  scalar,
  constant,  // inline or literal, its bits as the instruction reads them
  off,
  special,  // index is a Special
};

enum class Special : uint8_t { shared_base, shared_limit, private_base, private_limit, vccz, execz, scc };

struct Operand {
  OperandKind kind = OperandKind::none;
  bool negate = false, absolute = false, sign_extend = false;
  bool accumulator = false;  // an AGPR (its row is in index)
  bool real = false;         // a constant written as a floating-point number
  bool literal = false;      // a constant that is a literal though it could be inline
  uint16_t index = 0;
  uint16_t count = 1;  // registers
  uint64_t value = 0;  // of a constant

  bool is_vector() const { return kind == OperandKind::vector; }
  bool is_scalar() const { return kind == OperandKind::scalar; }
  bool is_constant() const { return kind == OperandKind::constant; }
};

enum class Lane : uint8_t {
  none,
  quad_perm,
  row_shl,
  row_shr,
  row_ror,
  wave_shl,
  wave_rol,
  wave_shr,
  wave_ror,
  row_mirror,
  row_half_mirror,
  row_bcast15,
  row_bcast31,
  row_newbcast
};

// Data-parallel primitives: which lane the first source comes from.
struct Dpp {
  Lane lane = Lane::none;
  std::array<uint8_t, 4> argument{};
  uint8_t row_mask = 15, bank_mask = 15;
  bool bound_control = false;
};

// Sub-dword addressing: selectors are byte_0..3, word_0..1, dword.
struct Sdwa {
  bool used = false;
  uint8_t destination = 6, unused = 0;  // unused: 0 pad, 1 sign extend, 2 preserve
  std::array<uint8_t, 2> source{6, 6};
};

enum Flag : uint16_t {
  kClamp = 1,
  kReturns = 2,
  kLds = 4,
  kOffsetVector = 8,
  kIndexVector = 16,
  kSystem = 32,
  kNonTemporal = 64,
  kGds = 128,
};

struct Modifiers {
  int32_t offset = 0;
  uint8_t offset0 = 0, offset1 = 0;
  uint8_t op_sel = 0, op_sel_hi = 0xff, neg_lo = 0, neg_hi = 0;
  uint8_t omod = 0;  // 1: times 2, 2: times 4, 3: half
  uint8_t cbsz = 0, abid = 0, blgp = 0, bitop3 = 0;
  uint16_t flags = 0;
  bool has_op_sel_hi = false;
  bool has(Flag f) const { return flags & f; }
};

constexpr int kMaxOperands = 6;

struct Instruction {
  Handler run = nullptr;
  const Definition* definition = nullptr;
  std::array<Operand, kMaxOperands> operand;
  uint8_t operands = 0;
  uint8_t bytes = 0;
  uint16_t immediate = 0;  // the low 16 bits of the first word
  uint32_t target = 0;     // of a branch: an index
  int32_t inner = -1;      // DPP and SDWA wrap the plain instruction
  Modifiers modifiers;
  Dpp dpp;
  Sdwa sdwa;

  bool has(Flag f) const { return modifiers.has(f); }
};

// What is needed only to talk about an instruction.
struct Listing {
  std::string text;
  uint64_t address = 0;  // within the image
};

}  // namespace cdna
