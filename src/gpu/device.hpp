// One GPU: what it is, the kernels loaded on it, and what a stream is asked to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "gpu/code_object.hpp"
#include "gpu/driver.hpp"

namespace fw::gpu {

struct Description {
  std::string name;     // what callers write: "hip:0", "emu:gfx942"
  std::string arch;     // "gfx942"
  std::string product;  // "AMD Instinct MI300X"
  int units = 0;        // compute units
  std::size_t bytes = 0;
};

// A kernel that is ready to run on one device.
struct Function {
  HipFunction handle = nullptr;
  const char* name = nullptr;
};

class Device {
 public:
  Device(const Driver& driver, int ordinal, Description description)
      : driver_(driver), ordinal_(ordinal), description_(std::move(description)) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Description& description() const { return description_; }

  // Loads the kernel at its first use. Any thread.
  Status load(const CodeObject& code, Function& out) const;

  // The block of parameters is copied before this returns; nothing waits.
  Status launch(const Function& function, std::int64_t groups, int threads, const void* parameters,
                std::size_t bytes, HipStream stream) const;

  Status allocate(std::size_t bytes, void*& out) const;
  Status release(void* block) const;
  // Waits for all that the device was given before.
  Status copy(void* to, const void* from, std::size_t bytes) const;

  // In the order of the stream; a stream that is being captured has no memory to give.
  Status allocate_on(HipStream stream, std::size_t bytes, void*& out) const;
  Status release_on(HipStream stream, void* block) const;
  Status capturing(HipStream stream, bool& out) const;
  // Waits for the stream, not for the device.
  Status read_back(HipStream stream, void* to, const void* from, std::size_t bytes) const;

 private:
  const Driver& driver_;
  int ordinal_;
  Description description_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<const unsigned char*, Function> functions_;
};

// Every device of the driver, named after its family; emulated ones by their architecture.
std::vector<std::unique_ptr<Device>> find_devices(const Driver& driver, const std::string& family);

}  // namespace fw::gpu
