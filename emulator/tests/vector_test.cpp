// Vector instructions against scalar definitions, lane by lane, on edge values.
#include <sstream>

#include "bench.hpp"
#include "vector_case.hpp"

namespace cdna::test {

const Cases& vector_cases() {
  static const Cases all = [] {
    Cases sum;
    for (const Cases& part : {arithmetic_cases(), compare_cases(), integer_cases(), half_cases(),
                              packed_cases(), double_cases(), conversion_cases(), small_float_cases()})
      sum.insert(sum.end(), part.begin(), part.end());
    return sum;
  }();
  return all;
}

namespace {

// Numbers that trip arithmetic, as 64-bit patterns whose low words are edge cases of fp32 and fp16 too.
u64 edge(u32 n) {
  static constexpr u32 kWords[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff,
                                   0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x33800001, 0x4b7fffff,
                                   0x477ff000, 0xc2fe0000, 0x3c003c00, 0x7bff0001, 0x84008001, 0x7c00fc00,
                                   0x00010203, 0xffffffff, 0x7fffffff, 0x3effffff, 0x42b17218, 0x0c0d0b0a};
  constexpr u32 kCount = sizeof kWords / sizeof *kWords;
  const u64 high = kWords[(n * 7 + 3) % kCount];
  return high << 32 | kWords[n % kCount];
}

bool is_nan(u64 x, Close close) {
  switch (close) {
    case kSingle: return std::isnan(as_float(static_cast<u32>(x)));
    case kDouble: return std::isnan(as_double(x));
    case kHalf: return std::isnan(from_half(static_cast<uint16_t>(x)));
    default: return false;
  }
}

bool same(u64 got, u64 want, Close close) {
  if (close == kHalves)
    return same(got & 0xffff, want & 0xffff, kHalf) && same(got >> 16 & 0xffff, want >> 16 & 0xffff, kHalf);
  if (close == kBrains)
    return same(got << 16 & 0xffff0000, want << 16 & 0xffff0000, kSingle) &&
           same(got & 0xffff0000, want & 0xffff0000, kSingle);
  if (close == kSingles) return same(lo(got), lo(want), kSingle) && same(got >> 32, want >> 32, kSingle);
  return got == want || (is_nan(got, close) && is_nan(want, close));
}

// The inputs of one round, in registers and as the definitions see them.
void fill(Wave& w, u32 round, In (&in)[kLanes]) {
  u64 vcc = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    in[l] = {edge(l), edge(l / 3 + round), edge(5 * l + round), edge(l + 11), ((l + round) % 3) == 0, w.arch};
    const u64 values[] = {in[l].a, in[l].b, in[l].c, 0, 0, in[l].d};
    for (int k = 0; k < 6; ++k) {
      w.v[10 + 2 * k][l] = static_cast<u32>(values[k]);
      w.v[11 + 2 * k][l] = static_cast<u32>(values[k] >> 32);
    }
    vcc |= static_cast<u64>(in[l].vcc) << l;
  }
  w.set_pair(kVcc, vcc);
  w.s[9] = 0x07020500;
}

// What is wrong with a row; "" when nothing is.
std::string mistake(Arch arch, const Case& c, const Code& code) {
  for (u32 round = 0; round < 24; ++round) {
    Bench bench(arch);
    Wave& w = bench.wave();
    In in[kLanes];
    fill(w, round, in);
    const u64 exec = round % 2 ? kAllLanes : 0x5a5af00f12345678ull;
    w.set_pair(kExec, exec);
    set_float_mode(FloatMode::single(FloatMode::kIeee));
    bench.run(code);
    if (w.exec() != (c.text.rfind("v_cmpx", 0) == 0 ? w.vcc() : exec)) return c.text + " sets EXEC wrongly";
    for (u32 l = 0; l < kLanes; ++l) {
      const u64 pair = static_cast<u64>(w.v[21][l]) << 32 | w.v[20][l];
      const bool on = exec >> l & 1;
      const u64 got = c.width == kMask ? w.vcc() >> l & 1 : c.width == kWord ? w.v[20][l] : pair;
      const u64 old = c.width == kMask ? 0 : c.width == kWord ? in[l].d & ~0u : in[l].d;
      const u64 want = on ? c.want(in[l]) : old;
      if (same(got, want, on ? c.close : kEqual)) continue;
      std::ostringstream text;
      text << c.text << " lane " << l << std::hex << " a " << in[l].a << " b " << in[l].b << " c " << in[l].c
           << " d " << in[l].d << ": got " << got << " want " << want;
      return text.str();
    }
  }
  return "";
}

class VectorInstructions : public testing::TestWithParam<Arch> {};

TEST_P(VectorInstructions, DoWhatTheirDefinitionsSay) {
  std::vector<std::string> lines;
  for (const Case& c : vector_cases()) lines.push_back(c.text);
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  int known = 0;
  for (size_t n = 0; n < code.size(); ++n) {
    if (code[n].empty()) continue;  // not on this generation
    ++known;
    EXPECT_EQ(mistake(GetParam(), vector_cases()[n], code[n]), "");
  }
  EXPECT_GT(known, 450);
}

INSTANTIATE_TEST_SUITE_P(Each, VectorInstructions, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
