#include "support/case.hpp"

#include <sstream>

#include "support/element.hpp"

namespace tools {

namespace {

std::vector<std::int32_t> copied(const std::int32_t* values, std::int64_t count) {
  return values == nullptr ? std::vector<std::int32_t>(static_cast<std::size_t>(count), 0)
                           : std::vector<std::int32_t>(values, values + count);
}

// Of a list of wanted outputs those of one pass, as a word, or "".
std::string wants_of(bool forward, const std::string& list) {
  std::istringstream names(list);
  std::string kept;
  for (std::string name; std::getline(names, name, ',');)
    if ((name == "lse" || name == "mask") == forward) kept += (kept.empty() ? "want=" : ",") + name;
  return kept;
}

}  // namespace

Outcome parse_case(const std::string& line, Case& out) {
  flashwave_case* raw = nullptr;
  TOOLS_TRY(Outcome::of(flashwave_case_parse(line.c_str(), &raw)));
  out = Case{};
  out.handle = std::shared_ptr<flashwave_case>(raw, flashwave_case_free);
  TOOLS_TRY(Outcome::of(flashwave_case_problem(raw, &out.problem)));
  flashwave_recipe recipe = FLASHWAVE_INIT(flashwave_recipe);
  TOOLS_TRY(Outcome::of(flashwave_case_recipe(raw, &recipe)));
  char* text = nullptr;
  TOOLS_TRY(Outcome::of(flashwave_case_print(raw, &text)));
  out.line = text;
  flashwave_free(text);
  out.seed = recipe.seed;
  out.values = recipe.values;
  out.layout = recipe.layout;
  out.queries = copied(recipe.queries, out.problem.batch);
  out.keys = copied(recipe.keys, out.problem.batch);
  out.leftpad = copied(recipe.leftpad, out.problem.batch);
  out.diagonals = copied(recipe.diagonals, out.problem.batch);
  return {};
}

Outcome Case::counts(int pass, flashwave_counts& out) const {
  out = FLASHWAVE_INIT(flashwave_counts);
  return Outcome::of(flashwave_case_counts(handle.get(), pass, &out));
}

Outcome Case::of_pass(int pass, Case& out) const {
  const bool forward_pass = pass == FLASHWAVE_FORWARD;
  std::istringstream words(line);
  std::string one, word;
  words >> word;
  one = forward_pass ? "fwd" : "bwd";
  while (words >> word) {
    if (word.rfind("want=", 0) == 0) word = wants_of(forward_pass, word.substr(5));
    if (!word.empty()) one += " " + word;
  }
  return parse_case(one, out);
}

const char* Case::dtype_name() const { return element_name(problem.dtype); }

}  // namespace tools
