// What a backend is. The registry in src/api is the only place that names the backends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "plan/plan.hpp"
#include "problem/call.hpp"
#include "problem/problem.hpp"

namespace fw {

struct Device {
  std::string name;  // what callers write: "cpu", "hip:0"
  std::string backend;
  std::string description;    // "AMD EPYC ..., 2 threads"
  std::string isa;            // the instruction set or architecture in use
  int threads = 0;            // CPU devices
  std::string missing;        // why it cannot be used; empty = usable
  bool listed = true;         // false: only by name (yardsticks)
  bool wide_outputs = false;  // outputs may be fp32 beside 16-bit inputs (yardsticks)
  bool host_memory = true;    // tensors are ordinary memory; false: memory of the device
  std::string driver;         // the runtime's file, or empty
};

// Peaks measured now, with the threads a call would use; 0 = not known.
struct Peak {
  double fma_flops = 0;   // fp32 multiply-adds, flop/s
  double dot_flops = 0;   // 16-bit dot products, flop/s
  double read_bytes = 0;  // memory read, bytes/s
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::vector<Device> devices() const = 0;

  // Null: the device runs this problem. Else the sentence that says why not. Every question about support,
  // the planner's included, comes here, so the answers cannot differ.
  virtual std::optional<std::string> declines(const Problem& problem, std::string_view device) const = 0;

  virtual Status plan(const Problem& problem, std::string_view device, Plan& out) const = 0;
  virtual Status run(const Plan& plan, const Call& call) const = 0;
  virtual Status combine(const CombineCall& call, std::string_view device) const = 0;
  virtual Status peak(std::string_view device, DType dtype, Peak& out) const = 0;

  // What a first call would do beside computing.
  virtual Status prepare(std::string_view device) const;

  // Memory for tensors, for callers who have nothing else of the device's. A copy waits for all work before
  // it. Unless a backend says otherwise, its devices use ordinary memory.
  virtual Status allocate(std::string_view device, std::size_t bytes, void*& out) const;
  virtual Status release(std::string_view device, void* block) const;
  virtual Status copy(std::string_view device, void* to, const void* from, std::size_t bytes) const;
};

}  // namespace fw
