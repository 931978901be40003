#include "support/check.hpp"

#include "support/case_data.hpp"
#include "support/last_words.hpp"
#include "support/members.hpp"
#include "support/outputs.hpp"

namespace tools {

namespace {

using Call = flashwave_attention;

// Paints over all that the call was free to write: what is not poison then was written beside it.
void look_for_stray_writes(const Call& done, const Arena& arena, Verdict& verdict) {
  for (const Member& member : members()) {
    const flashwave_tensor& t = done.*member.tensor;
    const bool cache = given(done.k_new) && (member.name == "k" || member.name == "v");
    const bool own = done.pass == FLASHWAVE_BACKWARD
                         ? member.part == Part::gradient
                         : member.part == Part::answer || member.part == Part::extra;
    if (given(t) && (own || cache)) fill_bytes(t, poison);
  }
  if (!arena.untouched())
    verdict.faults.push_back(done.pass == FLASHWAVE_BACKWARD ? "backward wrote beside its outputs"
                                                             : "forward wrote beside its outputs");
}

}  // namespace

Outcome check_case(const Case& c, const CheckOptions& options, Verdict& verdict) {
  const char* device = options.device.c_str();
  TOOLS_TRY(Outcome::of(flashwave_supports(device, &c.problem)));
  const LastWords line(c.line);
  const CaseData data(c, options.memory);
  const std::uint64_t inputs = data.arena().checksum();
  Arena forward_memory(options.memory), backward_memory(options.memory);

  Call forward = forward_of(data.call());
  add_outputs(forward, data.wants(FLASHWAVE_FORWARD), data.style(), forward_memory);
  Outcome answered = run_on(device, forward, options.memory);
  // A backward pass continues from the device's own answer, or, if it has no forward pass, from the oracle's.
  if (!c.forward() && answered.code() == FLASHWAVE_UNSUPPORTED)
    answered = run_on(options.judge.oracle, forward, options.memory);
  TOOLS_TRY(answered);
  if (c.forward()) TOOLS_TRY(judge(data.call(), forward, options.judge, verdict));

  if (c.backward()) {
    Call backward = backward_of(data.call());
    backward.out = forward.out;
    backward.lse = forward.lse;
    add_outputs(backward, data.wants(FLASHWAVE_BACKWARD), data.style(), backward_memory);
    const std::uint64_t answers = forward_memory.checksum();
    TOOLS_TRY(run_on(device, backward, options.memory));
    if (forward_memory.checksum() != answers)
      verdict.faults.push_back("backward changed out or lse, which it only reads");
    TOOLS_TRY(judge(data.call(), backward, options.judge, verdict));
    look_for_stray_writes(backward, backward_memory, verdict);
  }
  look_for_stray_writes(forward, forward_memory, verdict);
  if (data.arena().checksum() != inputs) verdict.faults.push_back("the call changed its inputs");
  return {};
}

}  // namespace tools
