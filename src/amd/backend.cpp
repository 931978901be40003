#include "amd/backend.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "amd/choose.hpp"
#include "amd/kernels.hpp"
#include "amd/run.hpp"
#include "amd/validate.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "gpu/device.hpp"
#include "gpu/driver.hpp"

namespace fw::amd {
namespace {

// "gfx90a, gfx942", or "no architecture".
std::string built_archs() {
  std::vector<std::string_view> archs;
  for (const Kernel& kernel : all_kernels())
    if (std::find(archs.begin(), archs.end(), kernel.code.arch) == archs.end())
      archs.push_back(kernel.code.arch);
  std::string text;
  for (const std::string_view arch : archs) text += say(text.empty() ? "" : ", ", arch);
  return text.empty() ? "no architecture" : text;
}

bool has_kernels(std::string_view arch) {
  return std::any_of(all_kernels().begin(), all_kernels().end(),
                     [&](const Kernel& kernel) { return arch == kernel.code.arch; });
}

class AmdBackend final : public Backend {
 public:
  AmdBackend(gpu::DriverChoice choice, std::vector<std::string> expected)
      : choice_(std::move(choice)), driver_(choice_), devices_(gpu::find_devices(driver_, choice_.family)) {
    for (const auto& device : devices_) listed_.push_back(listed(*device));
    // A device that is expected but not there is listed with the reason.
    for (std::string& name : expected)
      if (listed_.empty() || !driver_.missing().empty()) listed_.push_back(absent(std::move(name)));
  }

  std::vector<Device> devices() const override { return listed_; }

  std::optional<std::string> declines(const Problem& p, std::string_view name) const override {
    return amd::declines(p, find(name).description());
  }

  Status plan(const Problem& p, std::string_view name, Plan& out) const override {
    const gpu::Device& device = find(name);
    if (auto reason = amd::declines(p, device.description())) return unsupported(std::move(*reason));
    FW_TRY(choose(p, device.description(), out));
    return load_kernels(device, out);
  }

  Status run(const Plan& plan, const Call& call) const override {
    const gpu::Device& device = find(plan.device);
    if (environment().validate) FW_TRY(validate(device, call, plan.problem));
    return run_forward(device, plan, call);
  }

  Status combine(const CombineCall& call, std::string_view name) const override {
    return run_combine(find(name), call);
  }

  // Not known: nothing here times a GPU.
  Status peak(std::string_view, DType, Peak& out) const override {
    out = {};
    return {};
  }

  Status prepare(std::string_view name) const override {
    const gpu::Device& device = find(name);
    gpu::Function loaded;
    for (const Kernel& kernel : all_kernels())
      if (device.description().arch == kernel.code.arch) FW_TRY(device.load(kernel.code, loaded));
    return {};
  }

  Status allocate(std::string_view name, std::size_t bytes, void*& out) const override {
    return find(name).allocate(bytes, out);
  }
  Status release(std::string_view name, void* block) const override { return find(name).release(block); }
  Status copy(std::string_view name, void* to, const void* from, std::size_t bytes) const override {
    return find(name).copy(to, from, bytes);
  }

 private:
  // Only devices that are listed without `missing` are asked anything.
  const gpu::Device& find(std::string_view name) const {
    for (const auto& device : devices_)
      if (device->description().name == name) return *device;
    return *devices_.front();
  }

  Device listed(const gpu::Device& device) const {
    const gpu::Description& d = device.description();
    Device made = named(d.name);
    made.isa = d.arch;
    made.description = say(d.product, ", ", d.units, " compute units, ", d.bytes >> 30, " GiB");
    if (!has_kernels(d.arch))
      made.missing = say(d.product, " is a ", d.arch, ", and this build has kernels for ", built_archs());
    return made;
  }

  Device absent(std::string name) const {
    Device made = named(std::move(name));
    made.isa = "-";
    made.missing = driver_.missing().empty()
                       ? say("the runtime ", driver_.path(), " sees no GPU: ", choice_.advice)
                       : driver_.missing();
    return made;
  }

  Device named(std::string name) const {
    Device made;
    made.name = std::move(name);
    made.backend = "amd";
    made.driver = driver_.path();
    made.host_memory = false;
    return made;
  }

  gpu::DriverChoice choice_;
  gpu::Driver driver_;
  std::vector<std::unique_ptr<gpu::Device>> devices_;
  std::vector<Device> listed_;
};

}  // namespace

std::unique_ptr<Backend> make_hip_backend() {
  return std::make_unique<AmdBackend>(gpu::hip_choice(), std::vector<std::string>{"hip:0"});
}

std::unique_ptr<Backend> make_emulator_backend() {
  return std::make_unique<AmdBackend>(gpu::emulator_choice(),
                                      std::vector<std::string>{"emu:gfx90a", "emu:gfx942", "emu:gfx950"});
}

}  // namespace fw::amd
