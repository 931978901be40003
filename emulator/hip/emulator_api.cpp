// cdna_emulator_*: the emulator's own interface.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cdna/emulator.h"
#include "hip/runtime.hpp"

using namespace cdna;
using namespace cdna::hip;

namespace {

template <class F>
int guarded(F f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    thread_state().message = e.what();
    return 1;
  }
}

}  // namespace

int cdna_emulator_devices(const char* devices) {
  return guarded([=] { Runtime::get().choose_devices(devices ? devices : ""); });
}

int cdna_emulator_set(const char* key, const char* value) {
  return guarded([=] { Runtime::get().set(key ? key : "", value ? value : ""); });
}

const char* cdna_emulator_message(void) { return thread_state().message.c_str(); }

size_t cdna_emulator_counters(char* out, size_t room) {
  std::string text;
  guarded([&text] { text = Runtime::get().counters_json(); });
  if (out && room) {
    const size_t bytes = std::min(room - 1, text.size());
    std::memcpy(out, text.data(), bytes);
    out[bytes] = 0;
  }
  return text.size() + 1;
}

void cdna_emulator_reset_counters(void) { Runtime::get().reset_counters(); }
