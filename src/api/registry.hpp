// Every device of every backend in this build.
#pragma once

#include <span>
#include <string_view>

#include "backend/backend.hpp"
#include "base/status.hpp"

namespace fw::api {

struct Target {
  const Backend* backend;
  Device device;
};

std::span<const Target* const> targets();                 // all of them: opens every runtime
Status find(const char* device, const Target*& out);      // null = "cpu"; opens that of the device alone
Status find_any(const char* device, const Target*& out);  // usable or not
int threads_now(const Target& target);                    // Device::threads as of this call
void limit_threads(int threads);                          // 0 = the default again

}  // namespace fw::api
