#include "support/check.hpp"

#include <fmt/format.h>

#include <cstring>

#include "support/case_data.hpp"
#include "support/last_words.hpp"
#include "support/members.hpp"
#include "support/outputs.hpp"

namespace tools {

namespace {

using Call = flashwave_attention;

const char* pass_name(const Call& call) { return call.pass == FLASHWAVE_BACKWARD ? "backward" : "forward"; }

// Paints over all that the call was free to write: what is not poison then was written beside it.
void look_for_stray_writes(const Call& done, const Arena& arena, Verdict& verdict) {
  for (const Member& member : members())
    if (is_written(member, done)) fill_bytes(done.*member.tensor, poison);
  if (!arena.untouched())
    verdict.faults.push_back(fmt::format("{} wrote beside its outputs", pass_name(done)));
}

// The number of the first row whose bits differ, or -1.
std::int64_t first_difference(const flashwave_tensor& a, const flashwave_tensor& contiguous_b) {
  const std::int64_t columns = a.shape[a.rank - 1];
  const std::size_t bytes = static_cast<std::size_t>(columns) * element_bytes(a.dtype);
  std::int64_t first = -1;
  for_each_row(a, [&](std::int64_t row, std::int64_t offset) {
    if (first < 0 && std::memcmp(at(a, offset), at(contiguous_b, row * columns), bytes) != 0) first = row;
  });
  return first;
}

// One case on one device.
class Checking {
 public:
  Checking(const Case& c, const CheckOptions& options, Verdict& verdict)
      : case_(c), options_(options), verdict_(verdict), data_(c, options.memory) {}

  Outcome all();

 private:
  // Gives the call outputs in `memory`, runs it, and runs it again.
  Outcome run(Call& call, Arena& memory);
  Outcome repeat(const Call& before, const Call& done);
  const char* device() const { return options_.device.c_str(); }

  const Case& case_;
  const CheckOptions& options_;
  Verdict& verdict_;
  const CaseData data_;
};

Outcome Checking::run(Call& call, Arena& memory) {
  const Call before = call;
  add_outputs(call, data_.wants(call.pass), data_.style(), memory);
  TOOLS_TRY(run_on(device(), call, options_.memory));
  return options_.repeat ? repeat(before, call) : Outcome();
}

Outcome Checking::repeat(const Call& before, const Call& done) {
  Arena memory(Memory::poisoned);
  Call again = before;
  add_outputs(again, data_.wants(again.pass), {}, memory);
  TOOLS_TRY(run_on(device(), again, {}));
  for (const Member& member : members()) {
    if (!is_written(member, done)) continue;
    const flashwave_tensor& t = done.*member.tensor;
    const std::int64_t row = first_difference(t, again.*member.tensor);
    if (row < 0) continue;
    verdict_.faults.push_back(fmt::format("{}.. has other bits in a second run, without gaps and a workspace",
                                          place(std::string(member.name), t, row * t.shape[t.rank - 1])));
  }
  return {};
}

Outcome Checking::all() {
  const std::uint64_t inputs = data_.arena().checksum();
  Arena forward_memory(options_.memory), backward_memory(options_.memory);
  Call forward = forward_of(data_.call());
  Outcome answered = run(forward, forward_memory);
  // A backward pass continues from the device's own answer, or, if it has no forward pass, from the oracle's.
  if (!case_.forward() && answered.code() == FLASHWAVE_UNSUPPORTED)
    answered = run_on(options_.judge.oracle, forward, options_.memory);
  TOOLS_TRY(answered);
  if (case_.forward()) TOOLS_TRY(judge(data_.call(), forward, options_.judge, verdict_));

  if (case_.backward()) {
    Call backward = backward_of(data_.call());
    backward.out = forward.out;
    backward.lse = forward.lse;
    const std::uint64_t answers = forward_memory.checksum();
    TOOLS_TRY(run(backward, backward_memory));
    if (forward_memory.checksum() != answers)
      verdict_.faults.push_back("backward changed out or lse, which it only reads");
    TOOLS_TRY(judge(data_.call(), backward, options_.judge, verdict_));
    look_for_stray_writes(backward, backward_memory, verdict_);
  }
  look_for_stray_writes(forward, forward_memory, verdict_);
  if (data_.arena().checksum() != inputs) verdict_.faults.push_back("the call changed its inputs");
  return {};
}

}  // namespace

Outcome check_case(const Case& c, const CheckOptions& options, Verdict& verdict) {
  TOOLS_TRY(Outcome::of(flashwave_supports(options.device.c_str(), &c.problem)));
  const LastWords line(c.line);
  return Checking(c, options, verdict).all();
}

}  // namespace tools
