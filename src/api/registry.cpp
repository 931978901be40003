// The only file that names the backends.
#include "api/registry.hpp"

#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/text.hpp"
#include "cpu/backend.hpp"
#include "cpu/pool.hpp"

namespace fw::api {
namespace {

std::vector<Target>* find_targets() {
  std::unique_ptr<Backend> backends[] = {cpu::make_cpu_backend()};
  auto found = std::make_unique<std::vector<Target>>();
  for (auto& backend : backends) {
    for (Device& device : backend->devices()) found->push_back({backend.get(), std::move(device)});
    backend.release();  // lives as long as the process: a worker may still run while static objects go
  }
  return found.release();
}

}  // namespace

std::span<const Target> targets() {
  static const std::vector<Target>* found = find_targets();
  return *found;
}

Status find(const char* device, const Target*& out) {
  // A variable that means nothing refuses every call: nothing is silently ignored.
  FW_TRY(environment().status);
  const std::string_view wanted = device ? device : "cpu";
  std::string known;
  for (const Target& target : targets()) {
    if (target.device.name == wanted) {
      if (!target.device.missing.empty())
        return unavailable(say(target.device.name, ": ", target.device.missing));
      out = &target;
      return {};
    }
    if (target.device.listed) known += (known.empty() ? "" : ", ") + target.device.name;
  }
  return unavailable(say("device \"", wanted, "\" is not known; this build has ", known));
}

int threads_now(const Target& target) {
  for (const Device& device : target.backend->devices())
    if (device.name == target.device.name) return device.threads;
  return target.device.threads;
}

void limit_threads(int threads) { cpu::set_threads(threads); }

}  // namespace fw::api
