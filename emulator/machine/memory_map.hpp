// Which addresses of this process a kernel may touch.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cdna {

struct Region {
  uint64_t begin = 0, end = 0;
  std::string label;
  bool host = false;  // the caller's threads may write it at any time
  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

// The regions at one moment, sorted; read without a lock.
class Regions {
 public:
  explicit Regions(std::vector<Region> sorted = {}) : regions_(std::move(sorted)) {}
  const Region* find(uint64_t address, uint64_t bytes) const;
  const std::vector<Region>& all() const { return regions_; }
  Regions with(const std::vector<Region>& more) const;
  // One sentence on what lies nearest to an address that no region holds.
  std::string nearest(uint64_t address) const;

 private:
  std::vector<Region> regions_;
};

class MemoryMap {
 public:
  void add(uint64_t begin, uint64_t bytes, std::string label, bool host = false);
  bool remove(uint64_t begin);
  std::shared_ptr<const Regions> snapshot();
  // The region that holds an address; an empty one when none does.
  Region find(uint64_t address);

 private:
  std::mutex mutex_;
  std::map<uint64_t, Region> regions_;
  std::shared_ptr<const Regions> snapshot_;
};

}  // namespace cdna
