// flashwave kernels: every GPU kernel of this build, as its code object describes it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/console.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  std::string arch;
  bool json = false;
};

void print_json(const flashwave_kernel& k) {
  fmt::print("{}\n", nlohmann::ordered_json{{"arch", k.arch},
                                            {"name", k.name},
                                            {"threads", k.threads},
                                            {"vgprs", k.vgprs},
                                            {"agprs", k.agprs},
                                            {"sgprs", k.sgprs},
                                            {"vgpr_spills", k.vgpr_spills},
                                            {"sgpr_spills", k.sgpr_spills},
                                            {"private_bytes", k.private_bytes},
                                            {"lds_bytes", k.lds_bytes},
                                            {"code_bytes", k.code_bytes},
                                            {"object_bytes", k.object_bytes},
                                            {"occupancy", k.occupancy}}
                         .dump());
}

void print_row(const Table& table, const flashwave_kernel& k) {
  table.row({k.arch, std::to_string(k.threads), std::to_string(k.vgprs), std::to_string(k.agprs),
             std::to_string(k.sgprs), fmt::format("{}/{}", k.vgpr_spills, k.sgpr_spills),
             std::to_string(k.private_bytes), std::to_string(k.lds_bytes), std::to_string(k.code_bytes),
             std::to_string(k.occupancy), k.name});
}

Exit list_kernels(const Options& options) {
  const Table table({{"arch", -7},
                     {"threads", 7},
                     {"vgprs", 5},
                     {"agprs", 5},
                     {"sgprs", 5},
                     {"spills", 6},
                     {"private", 7},
                     {"lds", 6},
                     {"code", 6},
                     {"waves", 5},
                     {"kernel", -1}});
  if (!options.json) table.heading();
  std::size_t shown = 0;
  for (std::size_t i = 0; i < flashwave_kernel_count(); ++i) {
    flashwave_kernel kernel = FLASHWAVE_INIT(flashwave_kernel);
    if (const Outcome outcome = Outcome::of(flashwave_kernel_at(i, &kernel)); !outcome.ok())
      return report(outcome, options.json);
    if (!options.arch.empty() && options.arch != kernel.arch) continue;
    options.json ? print_json(kernel) : print_row(table, kernel);
    ++shown;
  }
  if (shown > 0) return Exit::ok;
  return report(
      unavailable(options.arch.empty() ? "this build has no GPU kernels"
                                       : fmt::format("this build has no kernels for {}", options.arch)),
      options.json);
}

}  // namespace

void add_kernels(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("kernels", "Every GPU kernel of this build: registers, memory, occupancy");
  verb->add_option("--arch", options->arch, "Of one architecture, e.g. gfx942");
  verb->add_flag("--json", options->json, "A JSON object a line");
  verb->footer(
      R"(vgprs: vector registers of a lane, AGPRs included. spills: of vector/scalar registers. waves: that share a SIMD.)");
  verb->callback([options, &chosen] { chosen.run = [options] { return list_kernels(*options); }; });
}

}  // namespace tools
