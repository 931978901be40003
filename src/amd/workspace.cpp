#include "amd/workspace.hpp"

#include "base/text.hpp"

namespace fw::amd {

Status WorkingSet::take(const Plan& plan, const Call& call) {
  Room room;
  FW_TRY(room_for(plan.problem, plan, room));
  FW_TRY(lay_out(plan.problem, room, parts_));
  data_ = static_cast<std::byte*>(call.workspace);
  if (call.workspace != nullptr || parts_.bytes == 0) return {};
  stream_ = call.stream;
  bool capturing = false;
  FW_TRY(device_.capturing(stream_, capturing));
  if (capturing)
    return unavailable(
        say("the stream is being captured, when nothing can be allocated: this call needs a workspace of ",
            plan.workspace, " bytes"));
  void* block = nullptr;
  if (call.allocator.allocate != nullptr) {
    constexpr std::size_t alignment = 256;
    block = call.allocator.allocate(call.allocator.context, parts_.bytes, alignment);
    if (block == nullptr)
      return exhausted(say("the allocator gave no ", parts_.bytes, " bytes of workspace"));
  } else {
    FW_TRY(device_.allocate_on(stream_, parts_.bytes, block));
  }
  allocator_ = call.allocator;
  owned_ = true;
  data_ = static_cast<std::byte*>(block);
  return {};
}

WorkingSet::~WorkingSet() {
  if (!owned_) return;
  if (allocator_.release != nullptr)
    allocator_.release(allocator_.context, data_);
  else
    static_cast<void>(
        device_.release_on(stream_, data_));  // what failed before it is what the caller hears of
}

}  // namespace fw::amd
