// The command `flashwave`: a user of the C interface, like any other.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "verbs.hpp"

namespace tools {

Exit report(const Outcome& outcome, bool json) {
  if (outcome.ok()) return Exit::ok;
  constexpr const char* names[] = {"ok", "invalid", "unsupported", "unavailable", "exhausted", "internal"};
  const Exit exit = exit_of(outcome);
  const char* name =
      outcome.code() >= 0 && outcome.code() <= FLASHWAVE_INTERNAL ? names[outcome.code()] : "internal";
  if (json) {
    const nlohmann::ordered_json error = {{"code", name},
                                          {"exit", static_cast<int>(exit)},
                                          {"message", outcome.message()},
                                          {"rule", outcome.rule()}};
    fmt::print("{}\n", nlohmann::ordered_json{{"error", error}}.dump(
                           -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print(stderr, "flashwave: {}: {}\n", name, outcome.message());
  }
  return exit;
}

Outcome find_device(const std::string& name, flashwave_device& out) {
  out = FLASHWAVE_INIT(flashwave_device);
  return Outcome::of(flashwave_find_device(name.c_str(), &out));
}

}  // namespace tools

namespace {

constexpr const char* footer = R"(A problem is a line of words, the pass first:
  flashwave verify  "fwd b2 hq8 hkv2 sq100 sk300 d64 bf16 causal"
  flashwave bench   "bwd b1 hq32 hkv8 sq4096 d128 bf16 causal" --against naive
  flashwave explain "fwd b1 hq8 hkv2 sq100 sk300 d72 dv40 bf16 window=64,0 softcap=20 sink paged=7 splits=3"
docs/problems.md has all the words.

Exit status: 0 ok, 1 a check failed, 2 invalid, 3 unsupported, unavailable or out of memory, 4 internal.)";

tools::Exit run(int argc, char** argv) {
  const bool json =
      std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "--json"; });
  CLI::App app{"FlashAttention: exact attention, forward, backward and decode", "flashwave"};
  app.footer(footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", flashwave_version());
  tools::Chosen chosen;
  tools::add_devices(app, chosen);
  tools::add_run(app, chosen);
  tools::add_verify(app, chosen);
  tools::add_bench(app, chosen);
  tools::add_explain(app, chosen);
  tools::add_kernels(app, chosen);
  tools::add_doctor(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return static_cast<tools::Exit>(app.exit(error));  // help and version
    return tools::report(tools::invalid(error.what()), json);
  }
  try {
    return chosen.run();
  } catch (const std::bad_alloc&) {
    return tools::report({FLASHWAVE_EXHAUSTED, "this machine has not the memory for that"}, json);
  } catch (const std::exception& error) {
    return tools::report({FLASHWAVE_INTERNAL, error.what()}, json);
  }
}

}  // namespace

int main(int argc, char** argv) { return static_cast<int>(run(argc, argv)); }
