#include "hip/runtime.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"

namespace cdna::hip {
namespace {

constexpr const char* kDefaultDevices = "gfx90a,gfx942,gfx950";
constexpr const char* kKeys[] = {"schedule", "async", "groups", "compare", "checks",
                                 "counters", "exact", "poison", "threads", "limit"};
constexpr int kMostDevices = 64;
constexpr size_t kPage = 4096;
// New memory holds what reads as NaN in every format, up to this size (beyond, pages stay unmapped until
// used).
constexpr size_t kMostPoisoned = 64u << 20;

std::vector<Arch> parse_devices(const std::string& text) {
  std::vector<Arch> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, end - at);
    int count = 1;
    if (const size_t colon = item.find(':'); colon != item.npos) {
      count = std::atoi(item.c_str() + colon + 1);
      item.resize(colon);
    }
    const Generation* g = find_generation(std::string_view(item));
    if (!g || count < 1 || count > kMostDevices)
      throw Error("devices '" + text + "': '" + item +
                  "' is none of gfx90a, gfx942, gfx950, or its number is wrong");
    out.insert(out.end(), static_cast<size_t>(count), g->arch);
    at = end + 1;
  }
  return out;
}

bool choice(const std::string& key, const std::string& value, const char* off, const char* on) {
  if (value == off) return false;
  if (value == on) return true;
  throw Error(key + " '" + value + "' is neither " + off + " nor " + on);
}

uint64_t number(const std::string& key, const std::string& value) {
  char* end = nullptr;
  const uint64_t n = std::strtoull(value.c_str(), &end, 0);
  if (value.empty() || *end) throw Error(key + " '" + value + "' is no number");
  return n;
}

void apply(Settings& s, const std::string& key, const std::string& value) {
  if (key == "schedule")
    s.schedule = Schedule::parse(value);
  else if (key == "async")
    s.late = choice(key, value, "now", "late");
  else if (key == "groups")
    s.groups_backward = choice(key, value, "forward", "backward");
  else if (key == "compare")
    s.compare = choice(key, value, "off", "on");
  else if (key == "counters")
    s.count_memory = choice(key, value, "off", "on");
  else if (key == "exact")
    s.exact = choice(key, value, "off", "on");
  else if (key == "poison")
    s.poison = static_cast<uint32_t>(number(key, value));
  else if (key == "threads")
    s.threads = static_cast<int>(number(key, value));
  else if (key == "limit")
    s.wave_limit = number(key, value);
  else if (key == "checks")
    s.checks = parse_checks(value);
  else
    throw Error("setting '" + key + "' is unknown");
}

std::string environment_name(std::string key) {
  for (char& c : key) c = static_cast<char>(c - 'a' + 'A');
  return "CDNA_EMU_" + key;
}

}  // namespace

ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}

Code result(Code e) {
  if (e != kSuccess) thread_state().last = e;
  return e;
}

Code result(Code e, const std::string& message) {
  thread_state().message = message;
  if (const char* log = std::getenv("CDNA_EMU_LOG"); log && *log)
    std::fprintf(stderr, "cdna: %s\n", message.c_str());
  return result(e);
}

Runtime& Runtime::get() {
  static Runtime* runtime = new Runtime;  // outlives every static that may still call
  return *runtime;
}

Runtime::Runtime() {
  for (const char* key : kKeys) {
    const char* value = std::getenv(environment_name(key).c_str());
    if (!value) continue;
    try {
      apply(settings_, key, value);
    } catch (const Error& e) {
      result(kInvalidValue, e.what());
    }
  }
}

void Runtime::start() {
  if (!devices_.empty()) return;
  if (device_text_.empty()) {
    const char* value = std::getenv("CDNA_EMU_DEVICES");
    device_text_ = value && *value ? value : kDefaultDevices;
  }
  std::vector<Arch> archs;
  try {
    archs = parse_devices(device_text_);
  } catch (const Error& e) {
    result(kNoDevice, e.what());
    return;
  }
  for (const Arch arch : archs) {
    devices_.push_back(std::make_unique<Device>());
    devices_.back()->arch = arch;
  }
}

void Runtime::choose_devices(const std::string& text) {
  const std::vector<Arch> wanted = parse_devices(text);
  const std::lock_guard lock(mutex_);
  if (devices_.empty()) {
    device_text_ = text;
    return;
  }
  bool same = wanted.size() == devices_.size();
  for (size_t n = 0; same && n < wanted.size(); ++n) same = wanted[n] == devices_[n]->arch;
  if (!same) throw Error("the devices are chosen already, and are not '" + text + "'");
}

int Runtime::device_count() {
  const std::lock_guard lock(mutex_);
  start();
  return static_cast<int>(devices_.size());
}

Device* Runtime::device(int n) {
  const std::lock_guard lock(mutex_);
  start();
  return n >= 0 && n < static_cast<int>(devices_.size()) ? devices_[static_cast<size_t>(n)].get() : nullptr;
}

void Runtime::map(const Allocation& a) {
  const auto base = reinterpret_cast<uint64_t>(a.base);
  for (size_t n = 0; n < devices_.size(); ++n)
    if (a.host || static_cast<int>(n) == a.device ||
        devices_[static_cast<size_t>(a.device)]->peers.count(static_cast<int>(n)))
      devices_[n]->memory.add(base, a.bytes, a.host ? "host memory" : "allocation", a.host);
}

void Runtime::unmap(const Allocation& a) {
  for (auto& d : devices_) d->memory.remove(reinterpret_cast<uint64_t>(a.base));
}

Code Runtime::allocate(void** out, size_t bytes, bool host) {
  if (!out) return kInvalidValue;
  *out = nullptr;
  if (!bytes) return kSuccess;
  const int current = thread_state().device;
  Device* d = device(current);
  if (!d) return kInvalidDevice;
  if (bytes > generation(d->arch).memory_bytes) return kOutOfMemory;
  const size_t mapped = (bytes + kPage - 1) / kPage * kPage;
  // A page that may not be touched lies on either side.
  void* whole =
      mmap(nullptr, mapped + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return kOutOfMemory;
  void* base = static_cast<char*>(whole) + kPage;
  if (mprotect(base, mapped, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole, mapped + 2 * kPage);
    return kOutOfMemory;
  }
  if (bytes <= kMostPoisoned) std::memset(base, 0xff, bytes);
  const Allocation a{base, bytes, mapped, current, host};
  const std::lock_guard lock(mutex_);
  allocations_[reinterpret_cast<uintptr_t>(base)] = a;
  map(a);
  *out = base;
  return kSuccess;
}

Code Runtime::release(void* p) {
  if (!p) return kSuccess;
  const std::shared_lock use(use_);
  Allocation a;
  {
    const std::lock_guard lock(mutex_);
    const auto at = allocations_.find(reinterpret_cast<uintptr_t>(p));
    if (at == allocations_.end() || at->second.lent) return kInvalidValue;
    a = at->second;
    allocations_.erase(at);
    unmap(a);
  }
  munmap(static_cast<char*>(a.base) - kPage, a.mapped + 2 * kPage);
  return kSuccess;
}

Code Runtime::lend(void* p, size_t bytes) {
  if (!p || !bytes) return kInvalidValue;
  if (!device(thread_state().device)) return kInvalidDevice;
  const Allocation a{p, bytes, bytes, thread_state().device, true, true};
  const std::lock_guard lock(mutex_);
  if (!allocations_.emplace(reinterpret_cast<uintptr_t>(p), a).second) return kInvalidValue;
  map(a);
  return kSuccess;
}

Code Runtime::take_back(void* p) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(reinterpret_cast<uintptr_t>(p));
  if (at == allocations_.end() || !at->second.lent) return kInvalidValue;
  unmap(at->second);
  allocations_.erase(at);
  return kSuccess;
}

Allocation Runtime::find(const void* p) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(p);
  auto at = allocations_.upper_bound(address);
  if (at == allocations_.begin()) return {};
  --at;
  return address < at->first + at->second.mapped ? at->second : Allocation{};
}

bool Runtime::fits(const void* p, size_t bytes) {
  const Allocation a = find(p);
  if (!a.bytes) return p != nullptr || bytes == 0;
  const size_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(a.base);
  return offset <= a.bytes && bytes <= a.bytes - offset;
}

void Runtime::share_with_peer(int owner, int peer) {
  const std::lock_guard lock(mutex_);
  devices_[static_cast<size_t>(owner)]->peers.insert(peer);
  for (const auto& [base, a] : allocations_)
    if (a.device == owner && !a.host)
      devices_[static_cast<size_t>(peer)]->memory.add(base, a.bytes, "allocation");
}

void Runtime::begin_capture(Stream& s) {
  static std::atomic<uint64_t> next{1};
  s.capture = kCapturing;
  s.graph = std::make_unique<Graph>();
  s.capture_id = next++;
  ++captures_;
}

void Runtime::end_capture(Stream& s) {
  s.capture = kNotCapturing;
  --captures_;
}

Code Runtime::refuse_in_capture() {
  if (!capturing()) return kSuccess;
  const std::lock_guard lock(mutex_);
  for (Stream* s : streams_)
    if (s->capture == kCapturing) s->capture = kInvalidatedCapture;
  return kCaptureUnsupported;
}

Settings Runtime::settings() {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void Runtime::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  apply(settings_, key, value);
}

void Runtime::count(const KernelCounts& counts) {
  const std::lock_guard lock(mutex_);
  const std::string key =
      std::string(generation(counts.program->arch).name) + ' ' + counts.program->kernel.name;
  KernelCounts& sum = counters_[key];
  // Another object with a kernel of the same name begins anew.
  if (sum.program && sum.program->object != counts.program->object) sum = {};
  sum.add(counts);
}

std::string Runtime::counters_json() {
  const std::lock_guard lock(mutex_);
  std::string text = "[";
  for (const auto& [key, counts] : counters_) text += (text.size() > 1 ? "," : "") + report_json(counts);
  return text + "]";
}

void Runtime::reset_counters() {
  const std::lock_guard lock(mutex_);
  counters_.clear();
}

void Runtime::add_stream(Stream* s) {
  const std::lock_guard lock(mutex_);
  streams_.insert(s);
}
void Runtime::remove_stream(Stream* s) {
  const std::lock_guard lock(mutex_);
  streams_.erase(s);
}
bool Runtime::known(Stream* s) {
  const std::lock_guard lock(mutex_);
  return streams_.count(s) > 0;
}

}  // namespace cdna::hip
