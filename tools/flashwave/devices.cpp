// flashwave devices: what can compute here, and for what cannot, why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/console.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  bool json = false, all = false;
};

Exit list_devices(const Options& options) {
  const Table table({{"device", -10}, {"backend", -10}, {"isa", -12}, {"threads", 7}, {"description", -1}});
  if (!options.json) table.heading();
  for (std::size_t i = 0; i < flashwave_device_count(); ++i) {
    flashwave_device device = FLASHWAVE_INIT(flashwave_device);
    if (Outcome outcome = Outcome::of(flashwave_device_at(i, &device)); !outcome.ok())
      return report(outcome, options.json);
    if (!device.listed && !options.all) continue;
    const std::string missing = device.missing;
    if (options.json) {
      const nlohmann::ordered_json line = {
          {"device", device.name},     {"backend", device.backend},         {"isa", device.isa},
          {"threads", device.threads}, {"description", device.description}, {"usable", missing.empty()},
          {"missing", missing},        {"listed", device.listed != 0}};
      fmt::print("{}\n", line.dump());
    } else {
      table.row({device.name, device.backend, device.isa, std::to_string(device.threads),
                 missing.empty() ? device.description : "missing: " + missing});
    }
  }
  return Exit::ok;
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("devices", "Every device, and for each that is missing, why");
  verb->add_flag("--all", options->all, "Also the yardsticks: reference, eager, naive");
  verb->add_flag("--json", options->json, "A JSON object a line");
  verb->callback([options, &chosen] { chosen.run = [options] { return list_devices(*options); }; });
}

}  // namespace tools
