// Problem lines: the grammar itself is src/problem.
#include <cstdlib>
#include <memory>
#include <mutex>

#include "api/convert.hpp"
#include "api/failure.hpp"
#include "api/structs.hpp"
#include "api/text.hpp"
#include "base/text.hpp"
#include "problem/case.hpp"
#include "problem/counts.hpp"
#include "problem/rules.hpp"

struct flashwave_case {
  fw::Case value;

  // What a recipe points to. It has a number a sequence, so it is made for who asks only.
  const fw::Extents& extents() const {
    std::call_once(made_, [this] { extents_ = fw::extents(value); });
    return extents_;
  }

 private:
  mutable std::once_flag made_;
  mutable fw::Extents extents_;
};

using namespace fw::api;

int flashwave_case_parse(const char* line, flashwave_case** out) {
  return guard([&]() -> fw::Status {
    if (!line) return fw::invalid("line is null");
    if (!out) return fw::invalid("out is null");
    auto made = std::make_unique<flashwave_case>();
    FW_TRY(fw::parse(line, made->value));
    *out = made.release();
    return {};
  });
}

void flashwave_case_free(flashwave_case* c) { delete c; }

int flashwave_case_problem(const flashwave_case* c, flashwave_problem* problem) {
  return guard([&]() -> fw::Status {
    if (!c) return fw::invalid("case is null");
    return write(problem, "flashwave_problem", convert(c->value.problem));
  });
}

int flashwave_case_recipe(const flashwave_case* c, flashwave_recipe* recipe) {
  return guard([&]() -> fw::Status {
    if (!c) return fw::invalid("case is null");
    const fw::Extents& lengths = c->extents();
    flashwave_recipe made{};
    made.seed = c->value.seed;
    made.values = static_cast<int>(c->value.values);
    made.layout = static_cast<int>(c->value.layout);
    made.queries = lengths.queries.data();
    made.keys = lengths.keys.data();
    made.leftpad = lengths.leftpad.data();
    made.diagonals = lengths.diagonals.data();
    return write(recipe, "flashwave_recipe", made);
  });
}

int flashwave_case_counts(const flashwave_case* c, int32_t pass, flashwave_counts* counts) {
  return guard([&]() -> fw::Status {
    if (!c) return fw::invalid("case is null");
    if (pass != FLASHWAVE_FORWARD && pass != FLASHWAVE_BACKWARD)
      return fw::invalid(fw::say("pass is ", pass, ", counts are of forward (0) or backward (1)"));
    const fw::Counts counted = fw::count(c->value, static_cast<fw::Pass>(pass));
    flashwave_counts made{};
    made.pairs = counted.pairs;
    made.flops = counted.flops;
    made.bytes = counted.bytes;
    return write(counts, "flashwave_counts", made);
  });
}

int flashwave_case_print(const flashwave_case* c, char** text) {
  return guard([&]() -> fw::Status {
    if (!c) return fw::invalid("case is null");
    return give_text(fw::print(c->value), text);
  });
}

size_t flashwave_rule_count(void) { return fw::rule_ids().size(); }

const char* flashwave_rule_at(size_t index) {
  const auto ids = fw::rule_ids();
  return index < ids.size() ? ids[index].data() : nullptr;  // the ids are literals: terminated
}

void flashwave_free(void* text) { std::free(text); }
