// flashwave verify: problems, computed and judged against the oracle.
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "support/check.hpp"
#include "support/console.hpp"
#include "support/fuzz.hpp"
#include "support/last_words.hpp"
#include "support/suites.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  std::vector<std::string> problems, files, suites;
  std::string suite_dir, device = "cpu", memory = "guarded", fuzz;
  std::uint64_t seed = 1;
  int jobs = 0;
  bool all_heads = false, once = false, json = false;
};

enum class State { passed, failed, skipped, declined };
constexpr const char* state_names[] = {"passed", "failed", "skipped", "declined"};

struct Result {
  State state = State::passed;
  Verdict verdict;
  std::vector<std::string> sentences;  // what failed, or why it did not run
};

CheckOptions check_options(const Options& o) {
  CheckOptions options;
  options.device = o.device;
  options.memory = o.memory == "plain"      ? Memory::plain
                   : o.memory == "poisoned" ? Memory::poisoned
                                            : Memory::guarded;
  options.judge.all_heads = o.all_heads;
  options.repeat = !o.once;
  return options;
}

Outcome parse_and_ask(const std::string& line, const std::string& device, Case& c) {
  TOOLS_TRY(parse_case(line, c));
  return Outcome::of(flashwave_supports(device.c_str(), &c.problem));
}

Result check_refusal(const CaseLine& line, const std::string& device) {
  Case c;
  const Outcome outcome = parse_and_ask(line.line, device, c);
  if (outcome.ok()) return {State::failed, {}, {fmt::format("was not refused; rule {} should", line.rule)}};
  if (outcome.rule() != line.rule)
    return {
        State::failed,
        {},
        {fmt::format("was refused by '{}' instead of {}: {}", outcome.rule(), line.rule, outcome.message())}};
  return {};
}

Result check_line(const CaseLine& line, const CheckOptions& options) try {
  if (line.kind == CaseLine::Kind::refuse) return check_refusal(line, options.device);
  Result result;
  Case c;
  Outcome outcome = parse_and_ask(line.line, options.device, c);
  if (outcome.code() == FLASHWAVE_UNSUPPORTED && line.kind == CaseLine::Kind::may_decline)
    return {State::declined, {}, {outcome.message()}};
  if (outcome.ok()) outcome = check_case(c, options, result.verdict);
  result.sentences = result.verdict.faults;
  if (!outcome.ok()) result.sentences.push_back(outcome.message());
  if (!result.sentences.empty()) result.state = State::failed;
  if (outcome.code() == FLASHWAVE_UNAVAILABLE || outcome.code() == FLASHWAVE_EXHAUSTED)
    result.state = State::skipped;
  return result;
} catch (const std::bad_alloc&) {
  return {State::skipped, {}, {"this machine has not the memory for it"}};
}

void print_result(const CaseLine& line, const Result& result, bool json, bool one_by_one) {
  if (json) {
    nlohmann::ordered_json tensors = nlohmann::ordered_json::object();
    for (const Measured& m : result.verdict.measured())
      tensors[m.name] = {{"max_error", m.max_error}, {"bound", m.bound}, {"mean_error", m.mean_error}};
    fmt::print("{}\n", nlohmann::ordered_json{{"problem", line.line},
                                              {"where", line.where},
                                              {"state", state_names[static_cast<int>(result.state)]},
                                              {"why", result.sentences},
                                              {"kv_heads_judged", result.verdict.heads_judged},
                                              {"tensors", tensors}}
                           .dump());
    return;
  }
  const std::string where = line.where.empty() ? "" : " (" + line.where + ")";
  if (result.state != State::passed) {
    fmt::print("{}{}: flashwave verify \"{}\"\n", state_names[static_cast<int>(result.state)], where,
               line.line);
    for (const std::string& sentence : result.sentences) fmt::print("    {}\n", sentence);
  } else if (one_by_one) {
    fmt::print("passed: {}\n", line.line);
    for (const Measured& m : result.verdict.measured())
      fmt::print("    {:<6} error {:.2e} of {:.2e} allowed\n", m.name, m.max_error, m.bound);
    if (result.verdict.heads_judged < result.verdict.heads)
      fmt::print("    judged on {} of {} kv heads\n", result.verdict.heads_judged, result.verdict.heads);
  }
}

// Checks lines on several threads and hands the results out in order.
class Checks {
 public:
  Checks(const std::vector<CaseLine>& lines, const CheckOptions& options, int jobs)
      : lines_(lines), options_(options), results_(lines.size()) {
    for (int i = 0; i < jobs; ++i) threads_.emplace_back([this] { work(); });
  }

  Result take(std::size_t index) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return results_[index].has_value(); });
    Result result = std::move(*results_[index]);
    return result;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < lines_.size(); i = next_++) {
      Result result = check_line(lines_[i], options_);
      const std::scoped_lock lock(mutex_);
      results_[i] = std::move(result);
      ready_.notify_all();
    }
  }

  const std::vector<CaseLine>& lines_;
  const CheckOptions& options_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::optional<Result>> results_;
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

// Problems of the command line must be well formed; a bad line in a file is a failure of that line.
Outcome gather(const Options& o, std::vector<CaseLine>& lines) {
  for (const std::string& problem : o.problems) {
    CaseLine line;
    if (!read_case_line(problem, line)) return invalid("a problem is empty");
    Case c;
    if (line.kind == CaseLine::Kind::plain) TOOLS_TRY(parse_case(line.line, c));
    lines.push_back(line);
  }
  for (const std::string& file : o.files) TOOLS_TRY(read_suite_file(file, lines));
  for (const std::string& suite : o.suites) TOOLS_TRY(read_suite(suite, "cases", o.suite_dir, lines));
  if (lines.empty()) return invalid("there is nothing to verify: give a problem, --cases, --suite or --fuzz");
  return {};
}

Exit verify_lines(const Options& o) {
  std::vector<CaseLine> lines;
  if (Outcome outcome = gather(o, lines); !outcome.ok()) return report(outcome, o.json);
  const CheckOptions options = check_options(o);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int jobs = std::min<int>(o.jobs > 0 ? o.jobs : std::min(cores, 8), static_cast<int>(lines.size()));
  const bool one_by_one = o.files.empty() && o.suites.empty();
  std::int64_t counts[4] = {};
  Progress progress(static_cast<std::int64_t>(lines.size()));
  Checks checks(lines, options, jobs);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    progress.show(static_cast<std::int64_t>(i), lines[i].line);
    const Result result = checks.take(i);
    if (result.state != State::passed || one_by_one || o.json) progress.clear();
    print_result(lines[i], result, o.json, one_by_one);
    ++counts[static_cast<int>(result.state)];
  }
  progress.clear();
  const auto count = [&](State state) { return counts[static_cast<int>(state)]; };
  if (o.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"passed", count(State::passed)},
                                              {"failed", count(State::failed)},
                                              {"skipped", count(State::skipped)},
                                              {"declined", count(State::declined)}}
                           .dump());
  } else {
    if (count(State::declined) > 0) fmt::print("{} declined, as they may\n", count(State::declined));
    fmt::print("{} passed, {} failed, {} skipped\n", count(State::passed), count(State::failed),
               count(State::skipped));
  }
  if (count(State::failed) > 0) return Exit::check_failed;
  // Asked for by name, what could not run is no success.
  return count(State::skipped) > 0 ? Exit::cannot : Exit::ok;
}

Exit verify_fuzz(const Options& o) {
  FuzzOptions options;
  options.check = check_options(o);
  options.seed = o.seed;
  if (Outcome outcome = read_fuzz_amount(o.fuzz, options); !outcome.ok()) return report(outcome, o.json);
  Progress progress(options.count);
  const FuzzReport found =
      fuzz(options, [&](std::int64_t done, const std::string& line) { progress.show(done, line); });
  progress.clear();
  for (const FuzzFailure& failure : found.failures) {
    if (o.json) {
      fmt::print(
          "{}\n",
          nlohmann::ordered_json{
              {"problem", failure.line}, {"drawn", failure.drawn}, {"state", "failed"}, {"why", failure.why}}
              .dump());
    } else {
      fmt::print("failed: flashwave verify \"{}\"\n    {}\n    drawn as: {}\n", failure.line, failure.why,
                 failure.drawn);
    }
  }
  const auto failed = static_cast<std::int64_t>(found.failures.size());
  if (o.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"passed", found.passed},
                                              {"failed", failed},
                                              {"skipped", 0},
                                              {"refused", found.refused},
                                              {"declined", found.declined}}
                           .dump());
  } else {
    fmt::print("{} passed, {} failed, 0 skipped\n", found.passed, failed);
  }
  return failed > 0 ? Exit::check_failed : Exit::ok;
}

}  // namespace

void add_verify(CLI::App& app, Chosen& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("verify", "Compute problems and judge them against the oracle");
  verb->add_option("problem", o->problems, "Problem lines");
  verb->add_option("--cases", o->files, "A file of problem lines")->allow_extra_args(false);
  verb->add_option("--suite", o->suites, "A suite by name, or all")->allow_extra_args(false);
  verb->add_option("--suite-dir", o->suite_dir, "Where suites are");
  verb->add_option("--device", o->device, "The device to judge")->capture_default_str();
  verb->add_option("--memory", o->memory,
                   "Of the tensors: guarded (a fault behind the end), poisoned or plain")
      ->check(CLI::IsMember({"guarded", "poisoned", "plain"}))
      ->capture_default_str();
  verb->add_option("--jobs", o->jobs, "Problems at a time; else as many as cores")->check(not_negative);
  verb->add_option("--fuzz", o->fuzz, "Draw problems: a count (200) or a time (30s)");
  verb->add_option("--seed", o->seed, "Of --fuzz")->check(not_negative)->capture_default_str();
  verb->add_flag("--all-heads", o->all_heads, "Judge every head of large problems, not four kv heads");
  verb->add_flag("--once", o->once, "Do not compute a second time to compare bits");
  verb->add_flag("--json", o->json, "A JSON object a line, the last with the counts");
  verb->footer(R"(Examples:
  flashwave verify "fwd+bwd b2 hq6 hkv2 sq100 sk130 d72 dv40 bf16 causal sink want=lse,dsink"
  flashwave verify --suite all
  flashwave verify --fuzz 60s --seed 7

Exit status 1 when a problem failed, 3 when one could not run for want of memory or of the device.)");
  verb->callback([o, &chosen] {
    chosen.run = [o] {
      speak_last_words();
      return o->fuzz.empty() ? verify_lines(*o) : verify_fuzz(*o);
    };
  });
}

}  // namespace tools
