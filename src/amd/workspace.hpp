// The memory a call needs on the device beside its tensors: the caller's, its allocator's, or the stream's.
#pragma once

#include <cstddef>

#include "base/status.hpp"
#include "gpu/device.hpp"
#include "plan/plan.hpp"
#include "plan/workspace.hpp"
#include "problem/call.hpp"

namespace fw::amd {

class WorkingSet {
 public:
  explicit WorkingSet(const gpu::Device& device) : device_(device) {}
  WorkingSet(const WorkingSet&) = delete;
  WorkingSet& operator=(const WorkingSet&) = delete;

  Status take(const Plan& plan, const Call& call);
  // Memory that was taken goes back in the stream's order, behind the kernels that use it.
  ~WorkingSet();

  float* partial_out() const { return reinterpret_cast<float*>(data_ + parts_.partial_out); }
  float* partial_lse() const { return reinterpret_cast<float*>(data_ + parts_.partial_lse); }
  void* query() const { return data_ + parts_.query; }

 private:
  const gpu::Device& device_;
  Workspace parts_;
  std::byte* data_ = nullptr;
  Allocator allocator_;
  void* stream_ = nullptr;
  bool owned_ = false;
};

}  // namespace fw::amd
