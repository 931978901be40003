#include "bench_gpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cdna/emulator.h"
#include "support/case_data.hpp"
#include "support/console.hpp"
#include "support/gpu_model.hpp"
#include "support/members.hpp"
#include "support/on_device.hpp"
#include "support/outputs.hpp"
#include "support/sample.hpp"

namespace tools {

namespace {

using Json = nlohmann::ordered_json;

bool is_emulated(const flashwave_device& device) { return std::string_view(device.name).starts_with("emu:"); }

// A forward call whose tensors and workspace lie on the device.
class Runner {
 public:
  Runner(const Case& c, const flashwave_device& device)
      : case_(c), data_(c, Memory::plain), outputs_(Memory::plain), copies_(device.name) {
    call_.device = device.name;
  }

  Outcome prepare() {
    plan_ = FLASHWAVE_INIT(flashwave_plan);
    TOOLS_TRY(Outcome::of(flashwave_make_plan(call_.device, &case_.problem, &plan_)));
    const char* const device = call_.device;
    call_ = forward_of(data_.call());
    call_.device = device;
    add_outputs(call_, data_.wants(FLASHWAVE_FORWARD), data_.style(), outputs_);
    TOOLS_TRY(Outcome::of(flashwave_workspace_size(&call_, &call_.workspace_bytes)));
    TOOLS_TRY(copies_.upload(call_));
    if (call_.workspace_bytes == 0) return {};
    return copies_.add_bytes(call_.workspace_bytes, poison, call_.workspace);
  }

  Outcome run() { return Outcome::of(flashwave_run(&call_)); }
  Outcome wait() { return Outcome::of(flashwave_copy(call_.device, nullptr, nullptr, 0)); }
  const flashwave_plan& plan() const { return plan_; }

 private:
  const Case& case_;
  const CaseData data_;
  Arena outputs_;
  OnDevice copies_;
  flashwave_attention call_ = FLASHWAVE_INIT(flashwave_attention);
  flashwave_plan plan_ = FLASHWAVE_INIT(flashwave_plan);
};

// The emulator's own interface, in the library that the device is in.
struct Emulator {
  decltype(&cdna_emulator_set) set = nullptr;
  decltype(&cdna_emulator_counters) counters = nullptr;
  decltype(&cdna_emulator_reset_counters) reset = nullptr;

  Outcome open(const flashwave_device& device) {
    void* const library = dlopen(device.driver, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return unavailable(fmt::format("{} is not open", device.driver));
    set = reinterpret_cast<decltype(set)>(dlsym(library, "cdna_emulator_set"));
    counters = reinterpret_cast<decltype(counters)>(dlsym(library, "cdna_emulator_counters"));
    reset = reinterpret_cast<decltype(reset)>(dlsym(library, "cdna_emulator_reset_counters"));
    if (set && counters && reset) return {};
    return unavailable(fmt::format("{} is no emulator with counters", device.driver));
  }

  Json read() const {
    std::string text(counters(nullptr, 0), '\0');
    counters(text.data(), text.size());
    return Json::parse(text.c_str());
  }
};

void print_counters(const Json& kernel) {
  fmt::print("    {}: {} workgroups, {} waves\n", kernel["kernel"].get<std::string>(),
             kernel["groups"].get<std::int64_t>(), kernel["waves"].get<std::int64_t>());
  for (const auto& [name, value] : kernel.items())
    if (value.is_number() && value.get<double>() > 0 && name != "groups" && name != "waves" &&
        name != "launches")
      fmt::print("      {:<32} {}\n", name, value.get<std::int64_t>());
}

Outcome count(const Case& c, const flashwave_device& device, const Emulator& emulator, bool json) {
  flashwave_counts counts = FLASHWAVE_INIT(flashwave_counts);
  TOOLS_TRY(c.counts(FLASHWAVE_FORWARD, counts));
  Runner runner(c, device);
  TOOLS_TRY(runner.prepare());
  emulator.reset();
  TOOLS_TRY(runner.run());
  const Json kernels = emulator.read();
  Modelled all;
  Json listed = Json::array();
  for (const Json& kernel : kernels) {
    const Modelled modelled = model_kernel(device.isa, kernel);
    all.seconds += modelled.seconds;
    all.bound = std::max(all.bound, modelled.bound,
                         [](const Bound& a, const Bound& b) { return a.seconds < b.seconds; });
    Json line = kernel;
    line.erase("loops");
    line["modelled_seconds"] = modelled.seconds;
    line["modelled_bound"] = modelled.bound.name;
    line["loops"] = kernel["loops"];
    listed.push_back(std::move(line));
  }
  const double tflops = all.seconds > 0 ? counts.flops / all.seconds * 1e-12 : 0;
  if (json) {
    fmt::print("{}\n", Json{{"problem", c.line},
                            {"device", device.name},
                            {"isa", device.isa},
                            {"instance", runner.plan().instance},
                            {"splits", runner.plan().splits},
                            {"flops", counts.flops},
                            {"modelled", true},
                            {"modelled_seconds", all.seconds},
                            {"modelled_tflops", tflops},
                            {"modelled_bound", all.bound.name},
                            {"extra_bytes", runner.plan().workspace_bytes},
                            {"kernels", listed}}
                           .dump());
    std::fflush(stdout);
    return {};
  }
  fmt::print("{}\n  {} modelled: {}, {:.1f} TFLOP/s modelled, bound by {}\n", c.line, runner.plan().instance,
             readable_seconds(all.seconds), tflops, all.bound.name);
  for (const Json& kernel : listed) print_counters(kernel);
  return {};
}

Outcome time(const Case& c, const flashwave_device& device, int rounds, bool json) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  flashwave_counts counts = FLASHWAVE_INIT(flashwave_counts);
  TOOLS_TRY(c.counts(FLASHWAVE_FORWARD, counts));
  Runner runner(c, device);
  TOOLS_TRY(runner.prepare());
  const auto timed = [&](int calls, double& seconds) -> Outcome {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) TOOLS_TRY(runner.run());
    TOOLS_TRY(runner.wait());
    seconds = since(begin) / calls;
    return {};
  };
  double seconds = 0;
  for (int i = 0; i < 2; ++i) TOOLS_TRY(timed(1, seconds));
  const int calls = static_cast<int>(std::clamp(least_seconds / std::max(seconds, 1e-6), 1.0, 1e5));
  Sample sample;
  for (int round = 0; round < rounds; ++round) TOOLS_TRY(timed(calls, sample.rounds.emplace_back()));
  const double median = sample.median(), spread = sample.spread(), tflops = counts.flops / median * 1e-12;
  if (json)
    fmt::print("{}\n", Json{{"problem", c.line},
                            {"device", device.name},
                            {"isa", device.isa},
                            {"instance", runner.plan().instance},
                            {"rounds", rounds},
                            {"seconds", median},
                            {"spread", spread},
                            {"gflops", tflops * 1e3},
                            {"bytes_per_second", counts.bytes / median},
                            {"extra_bytes", runner.plan().workspace_bytes}}
                           .dump());
  else
    fmt::print("{:>10}  {:>4.0f}%  {:>8.1f} TFLOP/s  {:>8.1f} GB/s  {}\n", readable_seconds(median),
               spread * 100, tflops, counts.bytes / median * 1e-9, c.line);
  return {};
}

}  // namespace

Outcome bench_gpu(const std::vector<Case>& cases, const flashwave_device& device, int rounds, bool json) {
  if (device.missing[0] != '\0') return unavailable(fmt::format("{}: {}", device.name, device.missing));
  for (const Case& c : cases)
    if (c.backward()) TOOLS_TRY(Outcome::of(flashwave_supports(device.name, &c.problem)));
  if (!is_emulated(device)) {
    if (!json) fmt::print("{} ({}), median of {} rounds\n", device.name, device.description, rounds);
    for (const Case& c : cases) TOOLS_TRY(time(c, device, rounds, json));
    return {};
  }
  Emulator emulator;
  TOOLS_TRY(emulator.open(device));
  emulator.set("counters", "on");
  if (!json) fmt::print("{}: counters, and times modelled from them: {}\n", device.name, device.description);
  for (const Case& c : cases) TOOLS_TRY(count(c, device, emulator, json));
  return {};
}

}  // namespace tools
