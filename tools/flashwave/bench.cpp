// flashwave bench: how fast problems run, beside the machine's peak and, if asked, another device. Peak,
// kernel and rival take turns in one run; medians are reported, and how far the rounds lay apart.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench_gpu.hpp"
#include "support/case_data.hpp"
#include "support/console.hpp"
#include "support/members.hpp"
#include "support/outputs.hpp"
#include "support/sample.hpp"
#include "support/suites.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  std::vector<std::string> problems, suites;
  std::string suite_dir, device = "cpu", against;
  int rounds = 7;
  int threads = 0;
  int against_threads = 0;  // of the rival; 0 = as many
  bool json = false;

  bool compares() const { return !against.empty(); }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One pass of a case on one device, ready to be called again and again.
class Runner {
 public:
  Runner(const CaseData& data, const Case& c, std::string device)
      : data_(data), case_(c), device_(std::move(device)), outputs_(Memory::plain) {}

  Outcome prepare() {
    plan_ = FLASHWAVE_INIT(flashwave_plan);
    TOOLS_TRY(Outcome::of(flashwave_make_plan(device_.c_str(), &case_.problem, &plan_)));
    call_ = forward_of(data_.call());
    add_outputs(call_, data_.wants(FLASHWAVE_FORWARD), data_.style(), outputs_);
    if (case_.backward()) {
      TOOLS_TRY(run_on(device_.c_str(), call_, Memory::plain));
      const flashwave_attention forward = call_;
      call_ = backward_of(data_.call());
      call_.out = forward.out;
      call_.lse = forward.lse;
      add_outputs(call_, data_.wants(FLASHWAVE_BACKWARD), data_.style(), outputs_);
    }
    call_.device = device_.c_str();
    TOOLS_TRY(Outcome::of(flashwave_workspace_size(&call_, &call_.workspace_bytes)));
    if (call_.workspace_bytes > 0) call_.workspace = outputs_.add_bytes(call_.workspace_bytes);
    // The first call touches pages and makes plans and pools; if it was short, the second says how long one
    // is.
    double seconds = 0;
    for (int i = 0; i < 2 && seconds < least_seconds; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      TOOLS_TRY(run_once());
      seconds = seconds_since(begin);
    }
    calls_ = static_cast<int>(std::clamp(least_seconds / std::max(seconds, 1e-7), 1.0, 1e6));
    return {};
  }

  Outcome measure() {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls_; ++i) TOOLS_TRY(run_once());
    seconds_.add(seconds_since(begin) / calls_);
    return {};
  }

  const Sample& seconds() const { return seconds_; }
  // Beside the tensors: what the call asks for, and the scratch of each worker.
  double extra_bytes(int threads) const {
    return static_cast<double>(call_.workspace_bytes) + static_cast<double>(plan_.thread_bytes) * threads;
  }

 private:
  Outcome run_once() { return Outcome::of(flashwave_run(&call_)); }

  const CaseData& data_;
  const Case& case_;
  std::string device_;
  Arena outputs_;
  flashwave_attention call_ = FLASHWAVE_INIT(flashwave_attention);
  flashwave_plan plan_ = FLASHWAVE_INIT(flashwave_plan);
  int calls_ = 1;
  Sample seconds_;
};

struct Result {
  std::string problem;
  flashwave_counts counts = FLASHWAVE_INIT(flashwave_counts);
  double seconds = 0, spread = 0, peak = 0, read = 0, extra_bytes = 0;
  double percent = 0, percent_of_read = 0, ratio = 0;  // medians over rounds, each against its own round
  double rival_seconds = 0, rival_extra_bytes = 0;
  std::string rival_declines;  // why it has no figures

  double gflops() const { return seconds > 0 ? counts.flops / seconds * 1e-9 : 0; }
  double gbytes() const { return seconds > 0 ? counts.bytes / seconds * 1e-9 : 0; }
};

// bf16 is measured against dot products where the machine has them.
double peak_of(const flashwave_peak& peak, int dtype) {
  return dtype == FLASHWAVE_BF16 && peak.dot_flops > 0 ? peak.dot_flops : peak.fma_flops;
}

struct Devices {
  flashwave_device own = FLASHWAVE_INIT(flashwave_device), rival = own;
};

// The number of threads is the process's, so that it changes with whose turn it is.
Outcome take_turn(Runner& runner, int threads) {
  if (threads > 0) TOOLS_TRY(Outcome::of(flashwave_set_threads(threads)));
  return runner.measure();
}

Outcome measure(const Options& o, const Case& c, const Devices& devices,
                const std::function<void(int round)>& progress, Result& result) {
  const int pass = c.backward() ? FLASHWAVE_BACKWARD : FLASHWAVE_FORWARD;
  result.problem = c.line;
  TOOLS_TRY(c.counts(pass, result.counts));
  TOOLS_TRY(Outcome::of(flashwave_supports(o.device.c_str(), &c.problem)));
  const CaseData data(c, Memory::plain);
  Runner kernel(data, c, o.device), rival(data, c, o.against);
  TOOLS_TRY(kernel.prepare());
  if (o.compares())
    result.rival_declines = Outcome::of(flashwave_supports(o.against.c_str(), &c.problem)).message();
  const bool compares = o.compares() && result.rival_declines.empty();
  if (compares) TOOLS_TRY(rival.prepare());
  const int rival_threads = o.against_threads > 0 ? o.against_threads : devices.own.threads;
  Sample peaks, reads, percents, read_percents, ratios;
  for (int round = 0; round < o.rounds; ++round) {
    progress(round);
    flashwave_peak peak = FLASHWAVE_INIT(flashwave_peak);
    TOOLS_TRY(Outcome::of(flashwave_measure_peak(o.device.c_str(), c.problem.dtype, &peak)));
    peaks.add(peak_of(peak, c.problem.dtype));
    reads.add(peak.read_bytes);
    TOOLS_TRY(take_turn(kernel, devices.own.threads));
    const double seconds = kernel.seconds().last();
    if (peaks.last() > 0) percents.add(100 * result.counts.flops / seconds / peaks.last());
    if (reads.last() > 0) read_percents.add(100 * result.counts.bytes / seconds / reads.last());
    if (!compares) continue;
    TOOLS_TRY(take_turn(rival, rival_threads));
    ratios.add(rival.seconds().last() / seconds);
    TOOLS_TRY(Outcome::of(flashwave_set_threads(devices.own.threads)));
  }
  result.seconds = kernel.seconds().median();
  result.spread = kernel.seconds().spread();
  result.peak = peaks.median();
  result.read = reads.median();
  result.percent = percents.median();
  result.percent_of_read = read_percents.median();
  result.ratio = ratios.median();
  result.extra_bytes = kernel.extra_bytes(devices.own.threads);
  if (compares) {
    result.rival_seconds = rival.seconds().median();
    result.rival_extra_bytes = rival.extra_bytes(rival_threads);
  }
  return {};
}

Table table_for(const Options& o) {
  std::vector<Table::Column> columns = {{"time", 10}, {"spread", 6}, {"GFLOP/s", 9}, {"% peak", 6},
                                        {"GB/s", 7},  {"% read", 6}, {"extra", 10}};
  if (o.compares()) {
    columns.push_back({o.against, 10});
    columns.push_back({"its extra", 10});
    columns.push_back({"speed-up", 8});
  }
  columns.push_back({"problem", -1});
  return Table(columns);
}

std::string share(double percent) { return percent > 0 ? fmt::format("{:.0f}%", percent) : "-"; }

void print_row(const Options& o, const Table& table, const Result& r) {
  std::vector<std::string> cells = {readable_seconds(r.seconds),       fmt::format("{:.0f}%", r.spread * 100),
                                    fmt::format("{:.1f}", r.gflops()), share(r.percent),
                                    fmt::format("{:.1f}", r.gbytes()), share(r.percent_of_read),
                                    readable_bytes(r.extra_bytes)};
  if (o.compares()) {
    const bool ran = r.rival_declines.empty();
    cells.push_back(ran ? readable_seconds(r.rival_seconds) : "declines");
    cells.push_back(ran ? readable_bytes(r.rival_extra_bytes) : "-");
    cells.push_back(ran ? fmt::format("{:.2f}x", r.ratio) : "-");
  }
  cells.push_back(r.problem);
  table.row(cells);
}

void print_json(const Options& o, const flashwave_device& device, const Result& r) {
  using Json = nlohmann::ordered_json;
  Json line = {{"problem", r.problem},
               {"device", device.name},
               {"isa", device.isa},
               {"threads", device.threads},
               {"rounds", o.rounds},
               {"seconds", r.seconds},
               {"spread", r.spread},
               {"gflops", r.gflops()},
               {"percent_of_peak", r.percent > 0 ? Json(r.percent) : Json()},
               {"peak_gflops", r.peak * 1e-9},
               {"bytes_per_second", r.gbytes() * 1e9},
               {"percent_of_read", r.percent_of_read > 0 ? Json(r.percent_of_read) : Json()},
               {"read_bytes_per_second", r.read},
               {"extra_bytes", r.extra_bytes},
               {"ratio", r.ratio > 0 ? Json(r.ratio) : Json()}};
  if (o.compares()) {
    line["against"] = o.against;
    if (!r.rival_declines.empty()) line["against_declines"] = r.rival_declines;
    if (o.against_threads > 0) line["against_threads"] = o.against_threads;
    line["against_seconds"] = r.rival_seconds;
    line["against_extra_bytes"] = r.rival_extra_bytes;
  }
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

// Every line, parsed before anything is timed; a line of both passes is timed as two.
Outcome gather(const Options& o, std::vector<Case>& cases) {
  std::vector<CaseLine> lines;
  for (const std::string& problem : o.problems) {
    CaseLine line;
    if (!read_case_line(problem, line)) return invalid("a problem is empty");
    lines.push_back(line);
  }
  std::vector<std::string> suites = o.suites;
  if (lines.empty() && suites.empty()) suites.push_back("quick");
  for (const std::string& suite : suites) TOOLS_TRY(read_suite(suite, "suite", o.suite_dir, lines));
  for (const CaseLine& line : lines) {
    Case c;
    if (Outcome outcome = parse_case(line.line, c); !outcome.ok())
      return {outcome.code(), line.where.empty() ? outcome.message() : line.where + ": " + outcome.message(),
              outcome.rule()};
    if (c.forward() && c.backward()) {
      TOOLS_TRY(c.of_pass(FLASHWAVE_FORWARD, cases.emplace_back()));
      TOOLS_TRY(c.of_pass(FLASHWAVE_BACKWARD, cases.emplace_back()));
    } else {
      cases.push_back(std::move(c));
    }
  }
  return {};
}

Outcome bench(const Options& o) {
  std::vector<Case> cases;
  TOOLS_TRY(gather(o, cases));
  if (o.threads > 0) TOOLS_TRY(Outcome::of(flashwave_set_threads(o.threads)));
  Devices devices;
  TOOLS_TRY(find_device(o.device, devices.own));
  if (o.compares()) TOOLS_TRY(find_device(o.against, devices.rival));
  if (!devices.own.host_memory) {
    if (o.compares()) return invalid("--against with a GPU: it is timed alone");
    return bench_gpu(cases, devices.own, o.rounds, o.json);
  }
  const Table table = table_for(o);
  if (!o.json) {
    fmt::print("{} ({}), {} threads, median of {} rounds\n", devices.own.name, devices.own.isa,
               devices.own.threads, o.rounds);
    table.heading();
  }
  Progress progress(static_cast<std::int64_t>(cases.size()) * o.rounds);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto show = [&](int round) {
      progress.show(static_cast<std::int64_t>(i) * o.rounds + round, cases[i].line);
    };
    Result result;
    show(0);
    TOOLS_TRY(measure(o, cases[i], devices, show, result));
    progress.clear();
    o.json ? print_json(o, devices.own, result) : print_row(o, table, result);
  }
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Chosen& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("bench", "How fast problems run");
  verb->add_option("problem", o->problems, "Problem lines; without any, the suite `quick`");
  verb->add_option("--suite", o->suites, "A suite by name, or all")->allow_extra_args(false);
  verb->add_option("--suite-dir", o->suite_dir, "Where suites are");
  verb->add_option("--device", o->device, "The device to time")->capture_default_str();
  verb->add_option("--against", o->against, "A second device beside it, e.g. naive");
  verb->add_option("--against-threads", o->against_threads, "Threads of that second device, if not as many")
      ->check(CLI::Range(1, 4096));
  verb->add_option("--rounds", o->rounds, "Measurements; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--threads", o->threads, "At most so many")->check(CLI::Range(1, 4096));
  verb->add_flag("--json", o->json, "A JSON object a line");
  verb->footer(
      R"(Percent of peak: of fp32 multiply-adds, for bf16 of its dot products where the machine has them. Percent of read: of
the speed at which memory is read. Both are measured in each round, and the median over rounds counts. Extra memory:
workspace and workers' scratch, beside the tensors. Tensors lie on huge pages where the machine gives them.

Examples:
  flashwave bench "fwd+bwd b1 hq16 sq2048 d128 bf16 causal" --against naive
  flashwave bench "fwd b1 hq16 sq2048 d128 bf16" --against cpu --against-threads 1
  flashwave bench --suite cpu --json > figures.jsonl)");
  verb->callback([o, &chosen] { chosen.run = [o] { return report(bench(*o), o->json); }; });
}

}  // namespace tools
