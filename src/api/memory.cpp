// Memory of devices, for callers without their SDK.
#include "api/failure.hpp"
#include "api/registry.hpp"
#include "base/text.hpp"
#include "flashwave/flashwave.h"

using namespace fw::api;

int flashwave_allocate(const char* device, size_t bytes, void** block) {
  return guard([&]() -> fw::Status {
    if (!block) return fw::invalid("block is null");
    const Target* target = nullptr;
    FW_TRY(find(device, target));
    return target->backend->allocate(target->device.name, bytes, *block);
  });
}

int flashwave_release(const char* device, void* block) {
  return guard([&]() -> fw::Status {
    const Target* target = nullptr;
    FW_TRY(find(device, target));
    return block ? target->backend->release(target->device.name, block) : fw::Status();
  });
}

int flashwave_copy(const char* device, void* to, const void* from, size_t bytes) {
  return guard([&]() -> fw::Status {
    if (bytes > 0 && (!to || !from)) return fw::invalid(fw::say(to ? "from" : "to", " is null"));
    const Target* target = nullptr;
    FW_TRY(find(device, target));
    return target->backend->copy(target->device.name, to, from, bytes);
  });
}
