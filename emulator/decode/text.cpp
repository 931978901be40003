#include "decode/text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"

namespace cdna {
namespace {

struct Name {
  const char* text;
  OperandKind kind;
  uint16_t index, count;
};

constexpr uint16_t special(Special s) { return static_cast<uint16_t>(s); }

constexpr Name kNames[] = {
    {"off", OperandKind::off, 0, 0},
    {"vcc", OperandKind::scalar, kVcc, 2},
    {"vcc_lo", OperandKind::scalar, kVcc, 1},
    {"vcc_hi", OperandKind::scalar, kVcc + 1, 1},
    {"exec", OperandKind::scalar, kExec, 2},
    {"exec_lo", OperandKind::scalar, kExec, 1},
    {"exec_hi", OperandKind::scalar, kExec + 1, 1},
    {"m0", OperandKind::scalar, kM0, 1},
    {"flat_scratch", OperandKind::scalar, kFlatScratch, 2},
    {"flat_scratch_lo", OperandKind::scalar, kFlatScratch, 1},
    {"flat_scratch_hi", OperandKind::scalar, kFlatScratch + 1, 1},
    {"xnack_mask", OperandKind::scalar, kXnackMask, 2},
    {"xnack_mask_lo", OperandKind::scalar, kXnackMask, 1},
    {"xnack_mask_hi", OperandKind::scalar, kXnackMask + 1, 1},
    {"src_shared_base", OperandKind::special, special(Special::shared_base), 1},
    {"src_shared_limit", OperandKind::special, special(Special::shared_limit), 1},
    {"src_private_base", OperandKind::special, special(Special::private_base), 1},
    {"src_private_limit", OperandKind::special, special(Special::private_limit), 1},
    {"src_vccz", OperandKind::special, special(Special::vccz), 1},
    {"src_execz", OperandKind::special, special(Special::execz), 1},
    {"src_scc", OperandKind::special, special(Special::scc), 1},
};

struct Word {
  const char* text;
  uint16_t flag;
};
// glc and sc0 are one bit of the encoding, slc/nt and scc/sc1 likewise, by architecture.
constexpr Word kWords[] = {{"clamp", kClamp},       {"lds", kLds},     {"offen", kOffsetVector},
                           {"idxen", kIndexVector}, {"glc", kReturns}, {"sc0", kReturns},
                           {"sc1", kSystem},        {"scc", kSystem},  {"nt", kNonTemporal},
                           {"slc", kNonTemporal},   {"gds", kGds}};

constexpr const char* kSelectors[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

struct LaneName {
  const char* text;
  Lane lane;
  int arguments;
};
constexpr LaneName kLanes[] = {
    {"quad_perm", Lane::quad_perm, 4},   {"row_shl", Lane::row_shl, 1},
    {"row_shr", Lane::row_shr, 1},       {"row_ror", Lane::row_ror, 1},
    {"wave_shl", Lane::wave_shl, 1},     {"wave_rol", Lane::wave_rol, 1},
    {"wave_shr", Lane::wave_shr, 1},     {"wave_ror", Lane::wave_ror, 1},
    {"row_mirror", Lane::row_mirror, 0}, {"row_half_mirror", Lane::row_half_mirror, 0},
    {"row_bcast", Lane::row_bcast15, 1}, {"row_newbcast", Lane::row_newbcast, 1},
};

[[noreturn]] void confused(std::string_view token) {
  throw Error("operand '" + std::string(token) + "' is not understood");
}

int64_t number(std::string_view token) {
  const std::string text(token);
  char* end = nullptr;
  const bool negative = !text.empty() && text[0] == '-';
  const uint64_t value = std::strtoull(text.c_str() + negative, &end, 0);
  if (end == text.c_str() + negative || *end) confused(token);
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

// "[1,0,1]" or "3" as numbers.
std::vector<int64_t> numbers(std::string_view token) {
  if (token.empty() || token[0] != '[') return {number(token)};
  if (token.back() != ']') confused(token);
  std::vector<int64_t> out;
  for (size_t at = 1; at < token.size();) {
    const size_t end = token.find_first_of(",]", at);
    out.push_back(number(token.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

uint8_t bits(std::string_view token) {
  uint8_t out = 0;
  int n = 0;
  for (int64_t bit : numbers(token)) out |= static_cast<uint8_t>((bit & 1) << n++);
  return out;
}

template <size_t n>
uint8_t one_of(const char* const (&names)[n], std::string_view token) {
  for (size_t k = 0; k < n; ++k)
    if (token == names[k]) return static_cast<uint8_t>(k);
  confused(token);
}

// v5, s[4:5], a7, ttmp[8:9]
bool parse_register(Operand& o, std::string_view token) {
  struct Prefix {
    const char* text;
    OperandKind kind;
    uint16_t first, limit;
    bool accumulator;
  };
  static constexpr Prefix kPrefixes[] = {{"ttmp", OperandKind::scalar, kTrapTemp, 16, false},
                                         {"v", OperandKind::vector, 0, 256, false},
                                         {"a", OperandKind::vector, 0, 256, true},
                                         {"s", OperandKind::scalar, 0, 102, false}};
  for (const Prefix& p : kPrefixes) {
    const std::string_view prefix(p.text);
    if (token.substr(0, prefix.size()) != prefix || token.size() == prefix.size()) continue;
    const std::string_view rest = token.substr(prefix.size());
    if (rest[0] != '[' && (rest[0] < '0' || rest[0] > '9')) continue;
    const size_t colon = rest.find(':');
    const int64_t first =
        number(rest[0] == '[' ? rest.substr(1, colon == rest.npos ? rest.size() - 2 : colon - 1) : rest);
    const int64_t last = colon == rest.npos ? first : number(rest.substr(colon + 1, rest.size() - colon - 2));
    if (first < 0 || last < first || last >= p.limit) confused(token);
    o.kind = p.kind;
    o.accumulator = p.accumulator;
    o.index = static_cast<uint16_t>(p.first + first);
    o.count = static_cast<uint16_t>(last - first + 1);
    return true;
  }
  return false;
}

// hwreg(HW_REG_MODE, 4, 2), sendmsg(...), gpr_idx(SRC0,DST): the encoding's low 16 bits say the same.
bool is_immediate_call(std::string_view token) {
  for (const char* call : {"hwreg(", "sendmsg(", "gpr_idx("})
    if (token.substr(0, std::string_view(call).size()) == call) return true;
  return false;
}

Operand parse_operand(std::string_view token, uint16_t immediate) {
  Operand o;
  const auto strip = [&token](std::string_view open, std::string_view close) {
    if (token.size() < open.size() + close.size() || token.substr(0, open.size()) != open) return false;
    if (token.substr(token.size() - close.size()) != close) return false;
    token = token.substr(open.size(), token.size() - open.size() - close.size());
    return true;
  };
  if (token.size() > 1 && token[0] == '-' && (token[1] < '0' || token[1] > '9')) o.negate = strip("-", "");
  if (strip("neg(", ")")) o.negate = true;
  if (strip("|", "|")) o.absolute = true;
  if (strip("sext(", ")")) o.sign_extend = true;
  o.literal = strip("lit(", ")") || strip("lit64(", ")");
  for (const Name& n : kNames)
    if (token == n.text) {
      o.kind = n.kind;
      o.index = n.index;
      o.count = n.count;
      return o;
    }
  if (parse_register(o, token)) return o;
  o.kind = OperandKind::constant;
  if (is_immediate_call(token)) {
    o.value = immediate;
    return o;
  }
  if (token.find('.') != token.npos && token.find('x') == token.npos) {
    o.real = true;
    const std::string text(token);
    char* end = nullptr;
    o.value = std::bit_cast<uint64_t>(std::strtod(text.c_str(), &end));
    if (*end) confused(token);
    return o;
  }
  o.value = static_cast<uint64_t>(number(token));
  return o;
}

bool parse_lane(Dpp& dpp, std::string_view key, std::string_view value) {
  for (const LaneName& l : kLanes) {
    if (key != l.text) continue;
    dpp.lane = l.lane;
    if (l.arguments) {
      const std::vector<int64_t> n = numbers(value);
      if (n.size() != static_cast<size_t>(l.arguments)) confused(value);
      for (int k = 0; k < l.arguments; ++k) dpp.argument[k] = static_cast<uint8_t>(n[k]);
      if (l.lane == Lane::row_bcast15 && dpp.argument[0] == 31) dpp.lane = Lane::row_bcast31;
    }
    return true;
  }
  return false;
}

uint8_t output_factor(std::string_view key, std::string_view value) {
  if (key == "div") return 3;
  return value == "4" ? 2 : 1;
}

bool parse_pair(Instruction& in, std::string_view key, std::string_view value) {
  Modifiers& m = in.modifiers;
  if (key == "offset")
    m.offset = value[0] == 's' ? in.immediate : static_cast<int32_t>(number(value));
  else if (key == "offset0")
    m.offset0 = static_cast<uint8_t>(number(value));
  else if (key == "offset1")
    m.offset1 = static_cast<uint8_t>(number(value));
  else if (key == "op_sel")
    m.op_sel = bits(value);
  else if (key == "op_sel_hi")
    m.op_sel_hi = bits(value), m.has_op_sel_hi = true;
  else if (key == "neg_lo")
    m.neg_lo = bits(value);
  else if (key == "neg_hi")
    m.neg_hi = bits(value);
  else if (key == "neg")
    m.blgp = bits(value);
  else if (key == "cbsz")
    m.cbsz = static_cast<uint8_t>(number(value));
  else if (key == "abid")
    m.abid = static_cast<uint8_t>(number(value));
  else if (key == "blgp")
    m.blgp = static_cast<uint8_t>(number(value));
  else if (key == "bitop3")
    m.bitop3 = static_cast<uint8_t>(number(value));
  else if (key == "mul" || key == "div")
    m.omod = output_factor(key, value);
  else if (key == "row_mask")
    in.dpp.row_mask = static_cast<uint8_t>(number(value));
  else if (key == "bank_mask")
    in.dpp.bank_mask = static_cast<uint8_t>(number(value));
  else if (key == "bound_ctrl")
    in.dpp.bound_control = true;
  else if (key == "dst_sel")
    in.sdwa.used = true, in.sdwa.destination = one_of(kSelectors, value);
  else if (key == "src0_sel")
    in.sdwa.used = true, in.sdwa.source[0] = one_of(kSelectors, value);
  else if (key == "src1_sel")
    in.sdwa.used = true, in.sdwa.source[1] = one_of(kSelectors, value);
  else if (key == "dst_unused")
    in.sdwa.unused = one_of(kUnused, value);
  else
    return parse_lane(in.dpp, key, value);
  return true;
}

bool parse_modifier(Instruction& in, std::string_view token) {
  for (const Word& w : kWords)
    if (token == w.text) {
      in.modifiers.flags |= w.flag;
      return true;
    }
  const size_t colon = token.find(':');
  if (colon == token.npos) return parse_lane(in.dpp, token, {});
  if (token.find_first_of("[(") < colon) return false;
  return parse_pair(in, token.substr(0, colon), token.substr(colon + 1));
}

// Splits at commas and blanks outside brackets.
std::vector<std::string_view> tokens(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth > 0 || (c != ',' && c != ' ')) continue;
    if (at > begin) out.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return out;
}

std::string range(const char* prefix, int index, int count) {
  const std::string first = std::to_string(index);
  return count == 1 ? prefix + first : prefix + ("[" + first + ":" + std::to_string(index + count - 1)) + "]";
}

std::string print_operand(const Operand& o) {
  std::string text;
  switch (o.kind) {
    case OperandKind::vector: text = range(o.accumulator ? "a" : "v", o.index, o.count); break;
    case OperandKind::constant:
      if (o.real) {
        char room[40];
        std::snprintf(room, sizeof room, "%.*g", 8, std::bit_cast<double>(o.value));
        text = room;
        if (text.find('.') == text.npos) text += ".0";
      } else {
        const auto value = static_cast<int64_t>(o.value);
        text = value >= -16 && value <= 64 ? std::to_string(value) : hex(o.value);
      }
      break;
    default:
      for (const Name& n : kNames)
        if (n.kind == o.kind && n.index == o.index && (o.kind != OperandKind::scalar || n.count == o.count))
          text = n.text;
      if (text.empty() && o.index >= kTrapTemp && o.index < kM0)
        text = range("ttmp", o.index - kTrapTemp, o.count);
      if (text.empty()) text = range("s", o.index, o.count);
  }
  if (o.literal) text = "lit(" + text + ")";
  if (o.sign_extend) text = "sext(" + text + ")";
  if (o.absolute) text = "|" + text + "|";
  if (o.negate) text = (o.is_constant() ? "neg(" : "-") + text + (o.is_constant() ? ")" : "");
  return text;
}

std::string print_bits(const char* key, uint8_t value, int count) {
  std::string text = std::string(" ") + key + ":[";
  for (int n = 0; n < count; ++n) text += (n ? "," : "") + std::to_string(value >> n & 1);
  return text + "]";
}

}  // namespace

void parse_text(Instruction& out, std::string& mnemonic, std::string_view text) {
  const size_t blank = text.find(' ');
  mnemonic = std::string(text.substr(0, blank));
  if (mnemonic == "s_waitcnt") return;  // its immediate says all
  if (blank == text.npos) return;
  for (std::string_view token : tokens(text.substr(blank + 1))) {
    if (parse_modifier(out, token)) continue;
    if (out.operands == kMaxOperands) throw Error("too many operands");
    out.operand[out.operands++] = parse_operand(token, out.immediate);
  }
}

std::string print_text(const Instruction& in, std::string_view mnemonic, Arch arch) {
  std::string text(mnemonic);
  if (mnemonic == "s_waitcnt") return text + " " + hex(in.immediate);
  for (int n = 0; n < in.operands; ++n) text += (n ? ", " : " ") + print_operand(in.operand[n]);
  const Modifiers& m = in.modifiers;
  const auto number_pair = [&text](const char* key, int64_t value) {
    text += std::string(" ") + key + ":" + std::to_string(value);
  };
  const auto flag = [&](Flag f, const char* name) {
    if (m.has(f)) text += std::string(" ") + name;
  };
  const bool old_words = arch == Arch::gfx90a;
  flag(kIndexVector, "idxen");
  flag(kOffsetVector, "offen");
  if (m.offset) number_pair("offset", m.offset);
  if (m.offset0) number_pair("offset0", m.offset0);
  if (m.offset1) number_pair("offset1", m.offset1);
  const int sources = std::max(in.operands - 1, 0);
  if (m.op_sel)
    text +=
        print_bits("op_sel", m.op_sel, m.has_op_sel_hi || m.op_sel >> sources == 0 ? sources : sources + 1);
  if (m.has_op_sel_hi) text += print_bits("op_sel_hi", m.op_sel_hi, sources);
  if (m.neg_lo) text += print_bits("neg_lo", m.neg_lo, sources);
  if (m.neg_hi) text += print_bits("neg_hi", m.neg_hi, sources);
  if (m.bitop3) number_pair("bitop3", m.bitop3);
  flag(kClamp, "clamp");
  if (m.omod) text += m.omod == 3 ? " div:2" : m.omod == 2 ? " mul:4" : " mul:2";
  for (const LaneName& l : kLanes) {
    if (l.lane != in.dpp.lane && !(l.lane == Lane::row_bcast15 && in.dpp.lane == Lane::row_bcast31)) continue;
    text += std::string(" ") + l.text;
    if (l.arguments == 1) text += ":" + std::to_string(in.dpp.argument[0]);
    if (l.arguments == 4) {
      text += ":[";
      for (int n = 0; n < 4; ++n) text += (n ? "," : "") + std::to_string(in.dpp.argument[n]);
      text += "]";
    }
    number_pair("row_mask", in.dpp.row_mask);
    number_pair("bank_mask", in.dpp.bank_mask);
    if (in.dpp.bound_control) text += " bound_ctrl:0";
  }
  if (in.sdwa.used) {
    const bool whole =
        mnemonic.ends_with("_fp8_sdwa") || mnemonic.ends_with("_bf8_sdwa");  // the destination is
    if (mnemonic.substr(0, 5) != "v_cmp" && !whole)
      text += std::string(" dst_sel:") + kSelectors[in.sdwa.destination] +
              " dst_unused:" + kUnused[in.sdwa.unused];
    text += std::string(" src0_sel:") + kSelectors[in.sdwa.source[0]];
    if (sources > 1 && mnemonic.find("_cvt_") == mnemonic.npos)
      text += std::string(" src1_sel:") + kSelectors[in.sdwa.source[1]];
  }
  if (m.cbsz) number_pair("cbsz", m.cbsz);
  if (m.abid) number_pair("abid", m.abid);
  if (m.blgp) number_pair("blgp", m.blgp);
  flag(kReturns, old_words ? "glc" : "sc0");
  flag(kNonTemporal, old_words ? "slc" : "nt");
  flag(kSystem, old_words ? "scc" : "sc1");
  flag(kLds, "lds");
  flag(kGds, "gds");
  return text;
}

}  // namespace cdna
