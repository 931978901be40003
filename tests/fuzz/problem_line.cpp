// Whatever bytes stand for a problem line: it is refused by a rule with a sentence, or printing and parsing
// are inverse and its lengths and counts stay in their bounds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "problem/case.hpp"
#include "problem/counts.hpp"
#include "problem/rules.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool within(const std::vector<std::int32_t>& lengths, std::int64_t longest) {
  return std::all_of(lengths.begin(), lengths.end(), [&](std::int32_t n) { return n >= 0 && n <= longest; });
}

void look_at(const fw::Case& c) {
  const std::string text = fw::print(c);
  fw::Case again;
  require(fw::parse(text, again).ok() && again == c && fw::print(again) == text);
  require(fw::ProblemHash()(again.problem) == fw::ProblemHash()(c.problem));
  constexpr std::int64_t quickly_listed = 4096;
  if (c.problem.batch > quickly_listed) return;
  const fw::Extents lengths = fw::extents(c);
  require(lengths.queries.size() == static_cast<std::size_t>(c.problem.batch));
  require(within(lengths.queries, c.problem.seq_q));
  require(within(lengths.keys, c.problem.seq_k - c.problem.append));
  require(within(lengths.leftpad, c.problem.seq_k));
  const fw::Counts counts = fw::count(c, fw::Pass::both);
  require(std::isfinite(counts.flops) && std::isfinite(counts.bytes) && counts.pairs >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fw::Case c;
  const fw::Status status = fw::parse({reinterpret_cast<const char*>(data), size}, c);
  if (status.ok()) {
    look_at(c);
  } else {
    const auto ids = fw::rule_ids();
    require(!status.message().empty());
    require(std::find(ids.begin(), ids.end(), status.rule()) != ids.end());
  }
  return 0;
}
