// Scalar instructions: results and SCC against scalar definitions, on edge values.
#include "bench.hpp"
#include "rows.hpp"
#include "scalar_case.hpp"

namespace cdna::test {
namespace {

using namespace scalar;

const Cases& cases() {
  static const Cases all = [] {
    Cases sum = basic_cases();
    for (const Cases& part : {bit_cases(), scalar::compare_cases()})
      sum.insert(sum.end(), part.begin(), part.end());
    return sum;
  }();
  return all;
}

struct ExecCase {
  std::string text;
  bool writes_result;  // of the operation; otherwise the old EXEC
  std::function<u64(u64 source, u64 exec)> want;
};

const std::vector<ExecCase>& exec_cases() {
  static const std::vector<ExecCase> all = [] {
    std::vector<ExecCase> cases;
    const auto add = [&cases](const char* name, bool result, std::function<u64(u64, u64)> want) {
      cases.push_back({std::string("s_") + name + "_b64 s[12:13], s[8:9]", result, std::move(want)});
    };
    add("and_saveexec", false, [](u64 s, u64 e) { return s & e; });
    add("or_saveexec", false, [](u64 s, u64 e) { return s | e; });
    add("xor_saveexec", false, [](u64 s, u64 e) { return s ^ e; });
    add("andn2_saveexec", false, [](u64 s, u64 e) { return s & ~e; });
    add("orn2_saveexec", false, [](u64 s, u64 e) { return s | ~e; });
    add("nand_saveexec", false, [](u64 s, u64 e) { return ~(s & e); });
    add("nor_saveexec", false, [](u64 s, u64 e) { return ~(s | e); });
    add("xnor_saveexec", false, [](u64 s, u64 e) { return ~(s ^ e); });
    add("andn1_saveexec", false, [](u64 s, u64 e) { return ~s & e; });
    add("orn1_saveexec", false, [](u64 s, u64 e) { return ~s | e; });
    add("andn1_wrexec", true, [](u64 s, u64 e) { return ~s & e; });
    add("andn2_wrexec", true, [](u64 s, u64 e) { return s & ~e; });
    return cases;
  }();
  return all;
}

class ScalarInstructions : public testing::TestWithParam<Arch> {};

TEST_P(ScalarInstructions, DoWhatTheirDefinitionsSay) {
  constexpr u32 kEdges[] = {0,          1,          2,          31,         32,         0x7fffffff,
                            0x80000000, 0xffffffff, 0xfffffff0, 0x12345678, 0x00ff00ff, 0x200004};
  std::vector<std::string> lines;
  for (const Case& c : cases()) lines.push_back(c.text);
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  Bench bench(GetParam());
  Wave& w = bench.wave();
  for (size_t n = 0; n < code.size(); ++n) {
    ASSERT_FALSE(code[n].empty()) << lines[n];
    for (u32 a : kEdges)
      for (u32 b : kEdges) {
        const In in{u64{b ^ 5} << 32 | a, u64{a + 9} << 32 | b, 0x5a0ff0a51234ffffull, (a + b) % 3 == 0};
        w.set_pair(8, in.a);
        w.set_pair(10, in.b);
        w.set_pair(12, in.d);
        w.scc = in.scc;
        bench.run(code[n]);
        const Out want = cases()[n].want(in);
        const u64 got = cases()[n].wide ? w.pair(12) : w.s[12];
        const bool result = lines[n].find("cmp") == std::string::npos;  // comparisons leave registers alone
        ASSERT_EQ(got, result ? want.value : cut(in.d))
            << lines[n] << std::hex << " a " << in.a << " b " << in.b;
        ASSERT_EQ(w.scc, want.scc == kKept ? in.scc : want.scc != 0)
            << lines[n] << std::hex << " a " << in.a << " b " << in.b;
      }
  }
}

// Each operation on the saved source and EXEC; SCC tells whether a lane is left.
TEST_P(ScalarInstructions, ExecIsSavedAndChanged) {
  std::vector<std::string> lines;
  for (const ExecCase& c : exec_cases()) lines.push_back(c.text);
  const std::vector<Code> code = assemble_lines(GetParam(), lines);
  for (size_t n = 0; n < code.size(); ++n) {
    const ExecCase& c = exec_cases()[n];
    Bench bench(GetParam());
    Wave& w = bench.wave();
    for (const u64 source : {u64{0xff00}, ~u64{0}, u64{0}, u64{0x8000000000000001}})
      for (const u64 exec : {u64{0xf0f0}, ~u64{0}, u64{0x8000000000000000}}) {
        w.set_pair(kExec, exec);
        w.set_pair(8, source);
        bench.run(code[n]);
        EXPECT_EQ(w.pair(12), c.writes_result ? c.want(source, exec) : exec) << c.text;
        EXPECT_EQ(w.exec(), c.want(source, exec)) << c.text;
        EXPECT_EQ(w.scc, c.want(source, exec) != 0) << c.text;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ScalarInstructions, testing::ValuesIn(kArchs),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace

std::vector<std::string> scalar_lines() {
  std::vector<std::string> lines;
  for (const Case& c : cases()) lines.push_back(c.text);
  for (const ExecCase& c : exec_cases()) lines.push_back(c.text);
  return lines;
}

}  // namespace cdna::test
