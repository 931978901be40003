// The memory of one call: the workspace, the caller's or ours, and scratch for each thread.
#pragma once

#include <cstddef>

#include "base/text.hpp"
#include "cpu/memory.hpp"
#include "plan/workspace.hpp"

namespace fw::cpu {

class WorkingSet {
 public:
  Status take(const Problem& problem, const Call& call, const Room& room) {
    FW_TRY(lay_out(problem, room, layout_));
    if (call.workspace == nullptr) {
      FW_TRY(own_.take_from(call.allocator, layout_.bytes, "workspace"));
      workspace_ = own_.data();
      return {};
    }
    if (call.workspace_bytes < layout_.bytes)
      return invalid(say("workspace has ", call.workspace_bytes, " bytes, this call needs ", layout_.bytes));
    workspace_ = static_cast<std::byte*>(call.workspace);
    return {};
  }

  Status take_scratch(int team, std::size_t bytes) {
    stride_ = (bytes + 4095) / 4096 * 4096;
    return scratch_.take(stride_ * static_cast<std::size_t>(team), "scratch");
  }

  float* partial_out() const { return at<float>(layout_.partial_out); }
  float* partial_lse() const { return at<float>(layout_.partial_lse); }
  float* delta() const { return at<float>(layout_.delta); }
  float* dq() const { return at<float>(layout_.dq); }
  void* query() const { return at<std::byte>(layout_.query); }
  void* scratch(int worker) const { return scratch_.data() + static_cast<std::size_t>(worker) * stride_; }

 private:
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(workspace_ + offset);
  }

  Workspace layout_;
  Memory own_, scratch_;
  std::byte* workspace_ = nullptr;
  std::size_t stride_ = 0;
};

}  // namespace fw::cpu
