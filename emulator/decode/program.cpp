#include "decode/program.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "base/error.hpp"
#include "base/floats.hpp"
#include "decode/definition.hpp"
#include "decode/disassembler.hpp"
#include "decode/text.hpp"
#include "instructions/lane_select.hpp"

namespace cdna {
namespace {

constexpr double kInverseTwoPi = 0.15915494;

// The bits that a constant written as a real number has, as its reader sees it.
uint64_t real_bits(double value, Type type) {
  const bool inverse = std::abs(value - kInverseTwoPi) < 1e-7;
  switch (type) {
    case Type::half: return inverse ? 0x3118 : to_half(static_cast<float>(value));
    case Type::brain: return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
    case Type::fp64:
    case Type::signed64:
    case Type::unsigned64: return inverse ? 0x3fc45f306dc9c882ull : std::bit_cast<uint64_t>(value);
    default: return inverse ? 0x3e22f983 : std::bit_cast<uint32_t>(static_cast<float>(value));
  }
}

// Literals have 32 bits: doubles get them as their high half, 64-bit integers extend them.
uint64_t integer_bits(uint64_t value, Type type) {
  const bool inlined = static_cast<int64_t>(value) >= -16 && static_cast<int64_t>(value) <= 64;
  if (inlined || value >> 32) return value;
  if (type == Type::fp64) return value << 32;
  if (type == Type::signed64) return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
  return value;
}

void settle_constants(Instruction& in, const Definition& d) {
  for (int n = d.destinations; n < in.operands; ++n) {
    Operand& o = in.operand[n];
    if (!o.is_constant()) continue;
    const Type type = d.sources[std::min(n - d.destinations, 3)];
    o.value = o.real ? real_bits(std::bit_cast<double>(o.value), type) : integer_bits(o.value, type);
  }
}

bool ends_with(const std::string& text, const char* end) { return text.ends_with(end); }

bool is_branch(const Definition* d) { return d && d->kind == Class::branch; }

void trap_end(Wave&, const Instruction&) { throw Fault("execution ran past the end of the code"); }

class Decoder {
 public:
  Decoder(Program& program) : program_(program), disassembler_(program.arch) {}

  void decode() {
    const Kernel& k = program_.kernel;
    decode_range({k.entry, k.entry + k.code_bytes});
    if (jumps_) decode_functions();
    finish_entry();
    link();
    complain();
    append_end();
    for (const Instruction& in : program_.code) program_.effects.push_back(effects_of(in));
  }

 private:
  void decode_range(Range range) {
    const uint8_t* image = program_.object->image();
    for (uint64_t at = range.begin; at < range.end;) {
      const size_t bytes = decode_one(image + at, range.end - at, at);
      at += bytes;
    }
  }

  size_t decode_one(const uint8_t* code, uint64_t room, uint64_t at) {
    Instruction in;
    Listing listing;
    listing.address = at;
    const size_t bytes = disassembler_.decode(listing.text, code, room, at);
    if (room >= 2) std::memcpy(&in.immediate, code, 2);
    if (bytes) {
      in.bytes = static_cast<uint8_t>(bytes);
      understand(in, listing);
      if (listing.text.rfind("v_mfma_scale", 0) == 0) read_scale_selectors(in, code);
    } else {
      listing.text = "(no instruction)";
    }
    program_.code.push_back(in);
    program_.listing.push_back(std::move(listing));
    return bytes ? bytes : 4;
  }

  // The text leaves op_sel_hi out when it is all ones or all zeros; the encoding tells.
  static void read_scale_selectors(Instruction& in, const uint8_t* code) {
    uint64_t bits;
    std::memcpy(&bits, code, sizeof bits);
    in.modifiers.op_sel = static_cast<uint8_t>(bits >> 11 & 7);
    in.modifiers.op_sel_hi = static_cast<uint8_t>(bits >> 59 & 3);
  }

  void understand(Instruction& in, Listing& listing) {
    std::string mnemonic;
    try {
      parse_text(in, mnemonic, listing.text);
    } catch (const Error& e) {
      listing.text += std::string("   (") + e.what() + ")";
      return;
    }
    const Definition* d = find_definition(base_mnemonic(mnemonic), program_.arch);
    if (!d) return;
    if (mnemonic == "s_setpc_b64" || mnemonic == "s_swappc_b64") jumps_ = true;
    in.definition = d;
    in.run = d->run;
    settle_constants(in, *d);
    if (d->parameter == kDefaultLow && !in.modifiers.has_op_sel_hi) in.modifiers.op_sel_hi = 0;
    for (int n = 0; n < in.operands; ++n)
      if (in.operand[n].accumulator) in.operand[n].index += program_.kernel.descriptor.accum_offset();
    if (in.dpp.lane != Lane::none) wrap(in, run_dpp);
    if (in.sdwa.used || ends_with(mnemonic, "_sdwa")) wrap(in, run_sdwa);
  }

  // The plain instruction reads and writes rows beside the register file; `run` moves values there and back.
  void wrap(Instruction& in, Handler run) {
    Instruction plain = in;
    redirect(plain, in);
    in.run = run;
    in.inner = static_cast<int32_t>(program_.inner.size());
    program_.inner.push_back(plain);
  }

  void decode_functions() {
    for (const Symbol& s : program_.object->symbols())
      if (s.function && s.size &&
          (s.address < program_.kernel.entry ||
           s.address >= program_.kernel.entry + program_.kernel.code_bytes))
        decode_range({s.address, s.address + s.size});
  }

  void finish_entry() {
    std::vector<uint32_t> order(program_.code.size());
    for (uint32_t n = 0; n < order.size(); ++n) order[n] = n;
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return program_.listing[a].address < program_.listing[b].address;
    });
    std::vector<Instruction> code;
    std::vector<Listing> listing;
    for (uint32_t n : order) {
      code.push_back(program_.code[n]);
      listing.push_back(std::move(program_.listing[n]));
    }
    program_.code = std::move(code);
    program_.listing = std::move(listing);
    program_.entry = find(program_.kernel.entry);
  }

  uint32_t find(uint64_t address) const {
    const auto at = std::lower_bound(program_.listing.begin(), program_.listing.end(), address,
                                     [](const Listing& l, uint64_t a) { return l.address < a; });
    if (at == program_.listing.end() || at->address != address)
      return static_cast<uint32_t>(program_.code.size());
    return static_cast<uint32_t>(at - program_.listing.begin());
  }

  void link() {
    for (uint32_t n = 0; n < program_.code.size(); ++n) {
      Instruction& in = program_.code[n];
      if (!is_branch(in.definition) || in.definition->destinations) continue;
      const int64_t offset = static_cast<int16_t>(in.immediate);
      in.target = find(program_.listing[n].address + 4 + static_cast<uint64_t>(offset * 4));
    }
  }

  // What a wave may reach: padding behind the last s_endpgm need not be code.
  std::vector<bool> reachable() const {
    const size_t size = program_.code.size();
    if (jumps_) return std::vector<bool>(size, true);
    std::vector<bool> seen(size, false);
    std::vector<uint32_t> open{program_.entry};
    while (!open.empty()) {
      uint32_t n = open.back();
      open.pop_back();
      for (; n < size && !seen[n]; ++n) {
        seen[n] = true;
        const Definition* d = program_.code[n].definition;
        if (is_branch(d)) open.push_back(program_.code[n].target);
        if (d && (d->name == "s_endpgm" || d->name == "s_branch")) break;
      }
    }
    return seen;
  }

  void complain() const {
    const std::vector<bool> seen = reachable();
    std::map<std::string, std::pair<int, size_t>> unknown;
    for (size_t n = 0; n < program_.code.size(); ++n) {
      if (!seen[n] || program_.code[n].run) continue;
      const std::string& text = program_.listing[n].text;
      auto& entry = unknown[text.find("   (") == text.npos ? text.substr(0, text.find(' ')) : text];
      if (!entry.first++) entry.second = n;
    }
    if (unknown.empty()) return;
    std::string sentence = "kernel " + program_.kernel.name +
                           " uses instructions that are not implemented on " +
                           generation(program_.arch).name + ":";
    for (const auto& [name, use] : unknown)
      sentence += " " + name + " (" + std::to_string(use.first) + ", first at " +
                  hex(program_.listing[use.second].address) + ")";
    throw Error(sentence);
  }

  void append_end() {
    Instruction end;
    end.run = trap_end;
    program_.code.push_back(end);
    program_.listing.push_back({"(end of code)", program_.kernel.entry + program_.kernel.code_bytes});
  }

  Program& program_;
  Disassembler disassembler_;
  bool jumps_ = false;
};

}  // namespace

uint32_t Program::index_of(uint64_t address) const {
  const uint64_t wanted = address - reinterpret_cast<uint64_t>(object->image());
  const auto at = std::lower_bound(listing.begin(), listing.end(), wanted,
                                   [](const Listing& l, uint64_t a) { return l.address < a; });
  if (at == listing.end() || at->address != wanted)
    throw Fault("jump to " + hex(address) + ", where no code is");
  return static_cast<uint32_t>(at - listing.begin());
}

uint64_t Program::address_of(uint32_t index) const {
  return reinterpret_cast<uint64_t>(object->image()) + listing[index].address;
}

std::shared_ptr<const Program> decode(std::shared_ptr<CodeObject> object, const Kernel& kernel) {
  auto program = std::make_shared<Program>();
  program->object = std::move(object);
  program->kernel = kernel;
  program->arch = program->object->arch();
  Decoder(*program).decode();
  return program;
}

std::vector<PlainInstruction> decode_plain(Arch arch, const uint8_t* code, size_t bytes) {
  const Disassembler disassembler(arch);
  std::vector<PlainInstruction> out;
  std::string text;
  for (size_t at = 0; at < bytes;) {
    const size_t used = disassembler.decode(text, code + at, bytes - at, at);
    if (!used) throw Error("no instruction at " + hex(at));
    Instruction in;
    std::memcpy(&in.immediate, code + at, 2);
    std::string mnemonic;
    parse_text(in, mnemonic, text);
    out.push_back({in, mnemonic});
    at += used;
  }
  return out;
}

}  // namespace cdna
