// flashwave explain: the plan of a problem, and why other kernels are not it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/case.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  std::string problem, device = "cpu";
  bool json = false;
};

Outcome plans_as_json(const Case& c, const Options& options, nlohmann::ordered_json& out) {
  out = nlohmann::ordered_json::array();
  for (const int pass : {FLASHWAVE_FORWARD, FLASHWAVE_BACKWARD}) {
    if (pass == FLASHWAVE_FORWARD ? !c.forward() : !c.backward()) continue;
    Case one;
    TOOLS_TRY(c.of_pass(pass, one));
    flashwave_plan plan = FLASHWAVE_INIT(flashwave_plan);
    TOOLS_TRY(Outcome::of(flashwave_make_plan(options.device.c_str(), &one.problem, &plan)));
    out.push_back({{"pass", pass == FLASHWAVE_FORWARD ? "fwd" : "bwd"},
                   {"instance", plan.instance},
                   {"tile_q", plan.tile_q},
                   {"tile_k", plan.tile_k},
                   {"splits", plan.splits},
                   {"chunks", plan.chunks},
                   {"workspace_bytes", plan.workspace_bytes},
                   {"thread_bytes", plan.thread_bytes},
                   {"partial_bytes", plan.partial_bytes}});
  }
  return {};
}

Outcome explain(const Options& options) {
  Case c;
  TOOLS_TRY(parse_case(options.problem, c));
  char* raw = nullptr;
  TOOLS_TRY(Outcome::of(flashwave_explain(options.device.c_str(), &c.problem, &raw)));
  const std::string text = raw;
  flashwave_free(raw);
  if (!options.json) {
    fmt::print("{}", text);
    return {};
  }
  nlohmann::ordered_json plans;
  TOOLS_TRY(plans_as_json(c, options, plans));
  fmt::print("{}\n",
             nlohmann::ordered_json{
                 {"problem", c.line}, {"device", options.device}, {"plans", plans}, {"text", text}}
                 .dump());
  return {};
}

}  // namespace

void add_explain(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("explain", "How a problem would run, and why not otherwise");
  verb->add_option("problem", options->problem, "A problem line")->required();
  verb->add_option("--device", options->device, "The device")->capture_default_str();
  verb->add_flag("--json", options->json, "One JSON object");
  verb->footer(R"(Example:
  flashwave explain "fwd b1 hq8 hkv2 sq1 sk8192 d128 bf16 cache paged=16")");
  verb->callback(
      [options, &chosen] { chosen.run = [options] { return report(explain(*options), options->json); }; });
}

}  // namespace tools
