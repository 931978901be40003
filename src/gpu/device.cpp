#include "gpu/device.hpp"

#include <cstring>
#include <map>
#include <string_view>

#include "base/text.hpp"

namespace fw::gpu {
namespace {

// The calling thread's device for as long as this lives, then the one it was.
class Selected {
 public:
  Selected(const Driver& driver, int ordinal) : driver_(driver) {
    int now = -1;
    code_ = driver.hip().hipGetDevice(&now);
    if (code_ != hip_success || now == ordinal) return;
    before_ = now;
    code_ = driver.hip().hipSetDevice(ordinal);
  }
  ~Selected() {
    if (before_ >= 0) driver_.hip().hipSetDevice(before_);
  }
  Selected(const Selected&) = delete;
  Selected& operator=(const Selected&) = delete;

  Status status() const { return driver_.check(code_, "selecting the device"); }

 private:
  const Driver& driver_;
  int before_ = -1;  // none to go back to
  int code_;
};

std::string text_of(const char* characters, std::size_t room) {
  return std::string(characters, strnlen(characters, room));
}

// Without what follows the first colon: "gfx942:sramecc+:xnack-".
std::string arch_of(const HipProperties& properties) {
  const std::string full = text_of(properties.arch, sizeof properties.arch);
  return full.substr(0, full.find(':'));
}

}  // namespace

Status Device::load(const CodeObject& code, Function& out) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(code.begin); found != functions_.end()) {
    out = found->second;
    return {};
  }
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  HipModule module = nullptr;
  FW_TRY(driver_.check(driver_.hip().hipModuleLoadData(&module, code.begin), say("loading ", code.name)));
  Function made{nullptr, code.name};
  FW_TRY(driver_.check(driver_.hip().hipModuleGetFunction(&made.handle, module, code.name),
                       say("finding ", code.name)));
  functions_.emplace(code.begin, made);
  out = made;
  return {};
}

Status Device::launch(const Function& function, std::int64_t groups, int threads, const void* parameters,
                      std::size_t bytes, HipStream stream) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  void* extra[] = {hip_parameter_pointer, const_cast<void*>(parameters), hip_parameter_bytes, &bytes,
                   hip_parameter_end};
  const int code =
      driver_.hip().hipModuleLaunchKernel(function.handle, static_cast<unsigned>(groups), 1, 1,
                                          static_cast<unsigned>(threads), 1, 1, 0, stream, nullptr, extra);
  return code == hip_success ? Status() : driver_.check(code, say("running ", function.name));
}

Status Device::allocate(std::size_t bytes, void*& out) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  return driver_.check(driver_.hip().hipMalloc(&out, bytes), say("allocating ", bytes, " bytes"));
}

Status Device::release(void* block) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  return driver_.check(driver_.hip().hipFree(block), "releasing memory");
}

Status Device::copy(void* to, const void* from, std::size_t bytes) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  FW_TRY(driver_.check(driver_.hip().hipDeviceSynchronize(), "waiting for the device"));
  if (bytes == 0) return {};
  return driver_.check(driver_.hip().hipMemcpy(to, from, bytes, hip_copy_default), "copying");
}

Status Device::allocate_on(HipStream stream, std::size_t bytes, void*& out) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  return driver_.check(driver_.hip().hipMallocAsync(&out, bytes, stream),
                       say("allocating ", bytes, " bytes"));
}

Status Device::release_on(HipStream stream, void* block) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  return driver_.check(driver_.hip().hipFreeAsync(block, stream), "releasing memory");
}

Status Device::capturing(HipStream stream, bool& out) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  int state = 0;
  FW_TRY(driver_.check(driver_.hip().hipStreamIsCapturing(stream, &state),
                       "asking whether the stream captures"));
  out = state != 0;
  return {};
}

Status Device::read_back(HipStream stream, void* to, const void* from, std::size_t bytes) const {
  const Selected selected(driver_, ordinal_);
  FW_TRY(selected.status());
  FW_TRY(driver_.check(driver_.hip().hipMemcpyAsync(to, from, bytes, hip_copy_default, stream), "copying"));
  return driver_.check(driver_.hip().hipStreamSynchronize(stream), "waiting for the stream");
}

std::vector<std::unique_ptr<Device>> find_devices(const Driver& driver, const std::string& family) {
  std::vector<std::unique_ptr<Device>> all;
  int count = 0;
  if (!driver.missing().empty() || driver.hip().hipGetDeviceCount(&count) != hip_success) return all;
  std::map<std::string, int> numbers;  // devices of each architecture so far
  for (int i = 0; i < count; ++i) {
    HipProperties properties{};
    if (driver.hip().hipGetDevicePropertiesR0600(&properties, i) != hip_success) continue;
    Description made;
    made.arch = arch_of(properties);
    made.product = text_of(properties.name, sizeof properties.name);
    made.units = properties.compute_units;
    made.bytes = properties.memory_bytes;
    const int number = numbers[made.arch]++;
    made.name = family == "hip" ? say("hip:", i)
                                : say(family, ":", made.arch, number > 0 ? say(":", number) : std::string());
    all.push_back(std::make_unique<Device>(driver, i, std::move(made)));
  }
  return all;
}

}  // namespace fw::gpu
