// The tensors of a call in the memory of its device, where that is not the host's.
#pragma once

#include <flashwave/flashwave.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/outcome.hpp"

namespace tools {

// Ok, and whether tensors of the device are ordinary memory.
Outcome uses_host_memory(const std::string& device, bool& out);

class OnDevice {
 public:
  explicit OnDevice(std::string device) : device_(std::move(device)) {}
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  // Copies all memory that the call's tensors span, and makes them point to the copies. A copy stands as the
  // original does to a multiple of 256 bytes, and ends where it ends, so that a device that minds its bounds
  // sees the same faults.
  Outcome upload(flashwave_attention& call);
  // Every byte the same.
  Outcome add_bytes(std::size_t bytes, unsigned char byte, void*& out);
  // Copies everything back that the call may have written, gaps between its elements included.
  Outcome download() const;

 private:
  struct Region {
    unsigned char *first, *end;  // of the host
    unsigned char* copy;
    bool written;
  };
  Outcome allocate(std::size_t bytes, unsigned char*& out);

  std::string device_;
  std::vector<void*> blocks_;
  std::vector<Region> regions_;
};

}  // namespace tools
