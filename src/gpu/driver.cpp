#include "gpu/driver.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace fw::gpu {
namespace {

// The folder that holds this library, or the program it is part of; with the slash.
std::string own_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &found) == 0 || found.dli_fname == nullptr)
    return {};
  const std::string_view path = found.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash + 1));
}

std::string path_of(void* entry, const std::string& fallback) {
  Dl_info found;
  return dladdr(entry, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : fallback;
}

}  // namespace

DriverChoice hip_choice() {
  const std::string advice =
      "`rocminfo` should list one, /dev/kfd and /dev/dri/render* must be yours to open (groups render and "
      "video)";
  if (const std::string& named = environment().hip_library; !named.empty())
    return {"hip", {named}, "FLASHWAVE_HIP_LIBRARY names the runtime of AMD's ROCm, libamdhip64.so", advice};
  return {"hip",
          {"libamdhip64.so.7", "libamdhip64.so.6"},
          "install the HIP runtime of AMD's ROCm 6 or later, or name its file in FLASHWAVE_HIP_LIBRARY",
          advice};
}

DriverChoice emulator_choice() {
  return {"emu",
          {own_folder() + "libcdnahip.so", "libcdnahip.so"},
          "build the target cdnahip, or put libcdnahip.so beside libflashwave",
          "CDNA_EMU_DEVICES names them"};
}

Driver::Driver(const DriverChoice& choice) { missing_ = open(choice); }

std::string Driver::open(const DriverChoice& choice) {
  void* library = nullptr;
  std::string reason;
  for (const std::string& file : choice.files) {
    // Never closed: a runtime has threads of its own.
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    const char* said = dlerror();
    reason += say(reason.empty() ? "" : "; ", said != nullptr ? said : file);
  }
  if (library == nullptr) return say(reason, ": ", choice.remedy);
  if (std::string why = bind(library); !why.empty()) return say(why, ": ", choice.remedy);
  path_ = path_of(reinterpret_cast<void*>(hip_.hipInit), choice.files.front());
  if (const int code = hip_.hipInit(0); code != hip_success && code != hip_no_device)
    return say(path_, " does not start: ", check(code, "hipInit").message());
  hip_.hipRuntimeGetVersion(&version_);
  log(LogLevel::info, "opened ", path_, ", version ", version_);
  return {};
}

std::string Driver::bind(void* library) {
  std::string lacking;
  const auto find = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(library, name));
    if (entry == nullptr && lacking.empty()) lacking = say("the runtime has no ", name);
  };
#define FW_HIP_BIND(name, ...) find(hip_.name, #name)
  FW_HIP_ENTRIES(FW_HIP_BIND);
#undef FW_HIP_BIND
  // The emulator says more about a fault than a code does.
  emulator_message_ = reinterpret_cast<const char* (*)()>(dlsym(library, "cdna_emulator_message"));
  return lacking;
}

Status Driver::check(int code, std::string_view doing) const {
  if (code == hip_success) return {};
  std::string sentence =
      say(doing, " failed: ", hip_.hipGetErrorName(code), " (", code, "), ", hip_.hipGetErrorString(code));
  if (emulator_message_ != nullptr)
    if (const std::string_view more = emulator_message_(); !more.empty()) sentence += say(": ", more);
  hip_.hipGetLastError();  // it was told; whoever asks next shall not find it
  return {code == hip_out_of_memory ? Code::exhausted
          : code == hip_no_device   ? Code::unavailable
                                    : Code::internal,
          std::move(sentence)};
}

}  // namespace fw::gpu
