// Whatever text stands for a problem line: it is refused by a rule with a sentence, or printing and parsing
// are inverse and its lengths and counts stay in their bounds.
#include <flashwave/flashwave.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

struct Free {
  void operator()(flashwave_case* c) const { flashwave_case_free(c); }
  void operator()(char* text) const { flashwave_free(text); }
};
using CasePointer = std::unique_ptr<flashwave_case, Free>;
using Text = std::unique_ptr<char, Free>;

CasePointer parse(const char* line) {
  flashwave_case* c = nullptr;
  return CasePointer(flashwave_case_parse(line, &c) == FLASHWAVE_OK ? c : nullptr);
}

Text print(const flashwave_case* c) {
  char* text = nullptr;
  require(flashwave_case_print(c, &text) == FLASHWAVE_OK);
  return Text(text);
}

void check_refusal() {
  require(std::strlen(flashwave_message()) > 0);
  for (std::size_t i = 0; i < flashwave_rule_count(); ++i)
    if (std::strcmp(flashwave_rule(), flashwave_rule_at(i)) == 0) return;
  std::abort();
}

void check_lengths(const flashwave_case* c) {
  flashwave_problem problem = FLASHWAVE_INIT(flashwave_problem);
  flashwave_recipe recipe = FLASHWAVE_INIT(flashwave_recipe);
  require(flashwave_case_problem(c, &problem) == FLASHWAVE_OK);
  require(flashwave_case_recipe(c, &recipe) == FLASHWAVE_OK);
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    require(recipe.queries[b] >= 0 && recipe.queries[b] <= problem.seq_q);
    require(recipe.keys[b] >= 0 && recipe.keys[b] + problem.append <= problem.seq_k);
    require(recipe.leftpad[b] >= 0 && recipe.leftpad[b] <= problem.seq_k);
  }
}

void check_counts(const flashwave_case* c) {
  for (const int pass : {FLASHWAVE_FORWARD, FLASHWAVE_BACKWARD}) {
    flashwave_counts counts = FLASHWAVE_INIT(flashwave_counts);
    require(flashwave_case_counts(c, pass, &counts) == FLASHWAVE_OK);
    require(counts.pairs >= 0 && std::isfinite(counts.flops) && std::isfinite(counts.bytes));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  const CasePointer c = parse(line.c_str());
  if (!c) {
    check_refusal();
    return 0;
  }
  const Text text = print(c.get());
  const CasePointer again = parse(text.get());
  require(again && std::strcmp(print(again.get()).get(), text.get()) == 0);
  check_lengths(c.get());
  check_counts(c.get());
  return 0;
}
