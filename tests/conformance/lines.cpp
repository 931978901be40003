#include "conformance/lines.hpp"

#include "support/case.hpp"
#include "support/case_data.hpp"
#include "support/members.hpp"

namespace lab {

namespace {

void keep_outputs(std::vector<unsigned char>& kept, const Call& done) {
  for (const tools::Member& member : tools::members()) {
    const bool own = done.pass == FLASHWAVE_BACKWARD
                         ? member.part == tools::Part::gradient
                         : member.part == tools::Part::answer || member.part == tools::Part::extra;
    if (!own || !tools::given(done.*member.tensor)) continue;
    const auto part = bits(done.*member.tensor);
    kept.insert(kept.end(), part.begin(), part.end());
  }
}

}  // namespace

std::vector<unsigned char> bits_of_line(const std::string& line) {
  std::vector<unsigned char> kept;
  tools::Case c;
  const auto expect_ok = [&](const tools::Outcome& outcome) {
    EXPECT_TRUE(outcome.ok()) << line << ": " << outcome.message();
    return outcome.ok();
  };
  if (!expect_ok(tools::parse_case(line, c))) return kept;
  const tools::CaseData data(c, tools::Memory::guarded);
  tools::Arena memory(tools::Memory::guarded);
  Call forward = tools::forward_of(data.call());
  tools::add_outputs(forward, data.wants(FLASHWAVE_FORWARD), data.style(), memory);
  if (!expect_ok(tools::run_on("cpu", forward, tools::Memory::guarded))) return kept;
  keep_outputs(kept, forward);
  if (!c.backward()) return kept;
  Call backward = tools::backward_of(data.call());
  backward.out = forward.out;
  backward.lse = forward.lse;
  tools::add_outputs(backward, data.wants(FLASHWAVE_BACKWARD), data.style(), memory);
  if (expect_ok(tools::run_on("cpu", backward, tools::Memory::guarded))) keep_outputs(kept, backward);
  return kept;
}

}  // namespace lab
