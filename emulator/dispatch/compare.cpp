#include "dispatch/compare.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace cdna {
namespace {

constexpr Order kOrders[] = {{"1", true, true},        {"16", true, false},      {"-7", false, false},
                             {"random:9", true, true}, {"barrier", false, true}, {"-barrier", true, false}};
constexpr size_t kPage = 4096;
constexpr uint64_t kMostBytes = 2ull << 30;

// The bytes of every allocation of a device.
class Image {
 public:
  explicit Image(std::shared_ptr<const Regions> regions) : regions_(std::move(regions)) {
    uint64_t bytes = 0;
    for (const Region& r : regions_->all()) bytes += r.host ? 0 : r.end - r.begin;
    if (bytes > kMostBytes)
      throw Error("orders can be compared on at most " + std::to_string(kMostBytes) +
                  " bytes of memory, there are " + std::to_string(bytes));
    bytes_.resize(bytes);
    for_each_page([](uint8_t* kept, uint8_t* now, size_t size) { std::memcpy(kept, now, size); });
  }

  // Only what has changed is written: memory may be shared read-only.
  void restore() {
    for_each_page([](uint8_t* kept, uint8_t* now, size_t size) {
      if (std::memcmp(kept, now, size)) std::memcpy(now, kept, size);
    });
  }

  // A sentence on the first byte that is not as it was; "" when all are.
  std::string difference() {
    std::string found;
    for_each_page([&](uint8_t* kept, uint8_t* now, size_t size) {
      if (!found.empty() || !std::memcmp(kept, now, size)) return;
      const auto at = static_cast<size_t>(std::mismatch(kept, kept + size, now).first - kept);
      const Region& r = *regions_->find(reinterpret_cast<uint64_t>(now + at), 1);
      found = "byte " + std::to_string(reinterpret_cast<uint64_t>(now + at) - r.begin) + " of " + r.label +
              " [" + hex(r.begin) + ", " + hex(r.end) + ") is " + hex(now[at]) + " instead of " +
              hex(kept[at]);
    });
    return found;
  }

 private:
  template <class F>
  void for_each_page(F f) {
    uint8_t* kept = bytes_.data();
    for (const Region& r : regions_->all())
      for (uint64_t at = r.host ? r.end : r.begin; at < r.end; at += kPage) {
        const auto size = static_cast<size_t>(std::min<uint64_t>(kPage, r.end - at));
        f(kept, reinterpret_cast<uint8_t*>(at), size);
        kept += size;
      }
  }

  std::shared_ptr<const Regions> regions_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::string Order::text() const {
  return std::string("schedule ") + schedule + ", async " + (late ? "late" : "now") + ", groups " +
         (groups_backward ? "backward" : "forward");
}

void Order::apply(Settings& s) const {
  s.schedule = Schedule::parse(schedule);
  s.late = late;
  s.groups_backward = groups_backward;
}

std::span<const Order> orders() { return kOrders; }

KernelCounts run_compared(const Launch& launch) {
  const std::shared_ptr<const Regions> regions = launch.memory->snapshot();
  Image before(regions);
  KernelCounts counts = run(launch);
  Image first(regions);
  const Settings& s = launch.settings;
  for (const Order& order : kOrders) {
    before.restore();
    Launch again = launch;
    order.apply(again.settings);
    run(again);
    if (const std::string difference = first.difference(); !difference.empty())
      throw Fault("kernel " + launch.program->kernel.name + " depends on the order of events: with " +
                  order.text() + ", " + difference + " with " +
                  Order{s.schedule.text().c_str(), s.late, s.groups_backward}.text());
  }
  return counts;
}

}  // namespace cdna
