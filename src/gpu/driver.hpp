// A GPU runtime, opened while the program runs: AMD's HIP, or the emulator that speaks its interface.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "gpu/hip.hpp"

namespace fw::gpu {

struct DriverChoice {
  std::string family;              // of its device names: "hip" for hip:0
  std::vector<std::string> files;  // tried in turn
  std::string remedy;              // what to do when there is none
  std::string advice;              // and when it sees no device
};

// AMD's runtime, or the one that FLASHWAVE_HIP_LIBRARY names; and the emulator, beside this library or where
// the loader finds it.
DriverChoice hip_choice();
DriverChoice emulator_choice();

class Driver {
 public:
  // Opens the first file that there is. A driver that is not usable remembers why.
  explicit Driver(const DriverChoice& choice);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const std::string& missing() const { return missing_; }  // why it cannot be used, or empty
  const std::string& path() const { return path_; }        // the file it was opened from
  int version() const { return version_; }
  const Hip& hip() const { return hip_; }

  // Ok, or what the runtime said when it was to do something: "launching fwd_bf16_d128".
  Status check(int code, std::string_view doing) const;

 private:
  std::string open(const DriverChoice& choice);  // why not, or empty
  std::string bind(void* library);

  Hip hip_;
  std::string path_, missing_;
  int version_ = 0;
  const char* (*emulator_message_)() = nullptr;
};

}  // namespace fw::gpu
