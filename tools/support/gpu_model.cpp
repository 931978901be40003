#include "support/gpu_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tools {

namespace {

struct Machine {
  const char* arch;
  double units;         // compute units
  double clock;         // Hz at most
  double l2_bytes;      // a clock, all caches together
  double memory_bytes;  // a second
};
constexpr Machine machines[] = {
    {"gfx90a", 110, 1.7e9, 2048, 1.6e12},
    {"gfx942", 304, 2.1e9, 8 * 2048, 5.3e12},
    {"gfx950", 256, 2.4e9, 8 * 2048, 8.0e12},
};
constexpr double simds = 4;

// The power limit: the busier the matrix units, the slower the clock. Points of gfx942, published.
double clock_share(double utilisation) {
  struct Point {
    double utilisation, ghz;
  };
  constexpr Point points[] = {{0.20, 2.1}, {0.30, 1.6}, {0.42, 1.36}, {0.65, 1.1}};
  constexpr double full = 2.1;
  if (utilisation <= points[0].utilisation) return 1;
  for (std::size_t i = 1; i < std::size(points); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    if (utilisation > b.utilisation) continue;
    const double part = (utilisation - a.utilisation) / (b.utilisation - a.utilisation);
    return (a.ghz + part * (b.ghz - a.ghz)) / full;
  }
  return points[std::size(points) - 1].ghz / full;
}

const Machine& machine_of(const std::string& arch) {
  for (const Machine& machine : machines)
    if (arch == machine.arch) return machine;
  return machines[1];
}

}  // namespace

Modelled model_kernel(const std::string& arch, const nlohmann::ordered_json& kernel) {
  const Machine& m = machine_of(arch);
  const auto number = [&](const char* name) { return kernel.value(name, 0.0); };
  const double groups = std::max(number("groups"), 1.0);
  // Units work in rounds of one workgroup each; in the last round some have none.
  const double busy = groups / std::ceil(groups / m.units) / m.units;
  struct Pipe {
    const char* name;
    double clocks;  // of the device, when all its units share the work evenly
  };
  const Pipe pipes[] = {
      {"matrix instructions", number("matrix_clocks") / (m.units * simds)},
      // Another wave's vector instructions run beside a matrix instruction; those of a SIMD share one port.
      {"vector instructions",
       (number("vector_clocks") + number("transcendental_clocks")) / (m.units * simds)},
      {"LDS", number("lds_clocks") / m.units},
      {"L2", number("global_bytes") / m.l2_bytes},
  };
  const Pipe& slowest = *std::max_element(std::begin(pipes), std::end(pipes),
                                          [](const Pipe& a, const Pipe& b) { return a.clocks < b.clocks; });
  const double clocks = slowest.clocks / busy;
  const double utilisation = clocks > 0 ? pipes[0].clocks / clocks : 0;
  const double seconds = clocks / (m.clock * clock_share(utilisation));
  return {seconds, {slowest.name, seconds}};
}

}  // namespace tools
