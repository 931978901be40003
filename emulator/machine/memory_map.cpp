#include "machine/memory_map.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cdna {
namespace {

std::string describe(const Region& r) {
  return r.label + " [" + hex(r.begin) + ", " + hex(r.end) + ") of " + std::to_string(r.end - r.begin) +
         " bytes";
}

}  // namespace

const Region* Regions::find(uint64_t address, uint64_t bytes) const {
  auto at = std::upper_bound(regions_.begin(), regions_.end(), address,
                             [](uint64_t a, const Region& r) { return a < r.begin; });
  if (at == regions_.begin()) return nullptr;
  --at;
  return at->contains(address, bytes) ? &*at : nullptr;
}

Regions Regions::with(const std::vector<Region>& more) const {
  std::vector<Region> all = regions_;
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  return Regions(std::move(all));
}

std::string Regions::nearest(uint64_t address) const {
  const Region* best = nullptr;
  uint64_t distance = ~0ull;
  for (const Region& r : regions_) {
    const uint64_t d = address < r.begin ? r.begin - address : address >= r.end ? address - r.end : 0;
    if (d < distance) distance = d, best = &r;
  }
  if (!best) return "nothing is allocated";
  if (address < best->begin) return std::to_string(distance) + " bytes before " + describe(*best);
  if (address >= best->end) return std::to_string(distance) + " bytes behind the end of " + describe(*best);
  return "across the end of " + describe(*best);
}

void MemoryMap::add(uint64_t begin, uint64_t bytes, std::string label, bool host) {
  const std::lock_guard lock(mutex_);
  regions_[begin] = {begin, begin + bytes, std::move(label), host};
  snapshot_.reset();
}

bool MemoryMap::remove(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  snapshot_.reset();
  return regions_.erase(begin) > 0;
}

std::shared_ptr<const Regions> MemoryMap::snapshot() {
  const std::lock_guard lock(mutex_);
  if (!snapshot_) {
    std::vector<Region> sorted;
    for (const auto& [begin, region] : regions_) sorted.push_back(region);
    snapshot_ = std::make_shared<const Regions>(std::move(sorted));
  }
  return snapshot_;
}

Region MemoryMap::find(uint64_t address) {
  const std::shared_ptr<const Regions> now = snapshot();
  const Region* r = now->find(address, 1);
  return r ? *r : Region{};
}

}  // namespace cdna
