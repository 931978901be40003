// The only file that names the backends.
#include "api/registry.hpp"

#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "amd/backend.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "cpu/backend.hpp"
#include "cpu/pool.hpp"

namespace fw::api {
namespace {

// Backends and the beginning of their devices' names, "hip" of "hip:0". A GPU's runtime is opened when one of
// its devices is asked for, or all are.
struct Family {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};
constexpr Family families[] = {
    {"", cpu::make_cpu_backend}, {"hip", amd::make_hip_backend}, {"emu", amd::make_emulator_backend}};

std::vector<Target>* find_targets(const Family& family) {
  auto backend = family.make();
  auto found = std::make_unique<std::vector<Target>>();
  for (Device& device : backend->devices()) found->push_back({backend.get(), std::move(device)});
  backend.release();  // lives as long as the process: a worker may still run while static objects go
  return found.release();
}

// Found once, kept for the life of the process.
std::span<const Target> targets_of(const Family& family) {
  static std::once_flag once[std::size(families)];
  static const std::vector<Target>* found[std::size(families)];
  const auto i = static_cast<std::size_t>(&family - families);
  std::call_once(once[i], [&] { found[i] = find_targets(family); });
  return *found[i];
}

std::string unknown(std::string_view wanted) {
  std::string known;
  for (const Target* target : targets())
    if (target->device.listed && target->device.missing.empty())
      known += (known.empty() ? "" : ", ") + target->device.name;
  return say("device \"", wanted, "\" is not known; this build has ", known);
}

const Target* target_named(std::string_view name) {
  const std::string_view prefix = name.substr(0, name.find(':') == name.npos ? 0 : name.find(':'));
  for (const Family& family : families) {
    if (family.name != prefix) continue;
    for (const Target& target : targets_of(family))
      if (target.device.name == name) return &target;
  }
  return nullptr;
}

}  // namespace

std::span<const Target* const> targets() {
  static const auto* all = [] {
    auto list = std::make_unique<std::vector<const Target*>>();
    for (const Family& family : families)
      for (const Target& target : targets_of(family)) list->push_back(&target);
    return list.release();
  }();
  return *all;
}

Status find_any(const char* device, const Target*& out) {
  const std::string_view wanted = device ? device : "cpu";
  out = target_named(wanted);
  return out != nullptr ? Status() : unavailable(unknown(wanted));
}

Status find(const char* device, const Target*& out) {
  // A variable that means nothing refuses every call: nothing is silently ignored.
  FW_TRY(environment().status);
  FW_TRY(find_any(device, out));
  if (out->device.missing.empty()) return {};
  return unavailable(say(out->device.name, ": ", out->device.missing));
}

int threads_now(const Target& target) {
  for (const Device& device : target.backend->devices())
    if (device.name == target.device.name) return device.threads;
  return target.device.threads;
}

void limit_threads(int threads) { cpu::set_threads(threads); }

}  // namespace fw::api
