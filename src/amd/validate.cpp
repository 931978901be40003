#include "amd/validate.hpp"

#include <cstdint>
#include <deque>
#include <vector>

#include "problem/tensors.hpp"

namespace fw::amd {

Status validate(const gpu::Device& device, const Call& call, const Problem& problem) {
  bool capturing = false;
  FW_TRY(device.capturing(call.stream, capturing));
  if (capturing)
    return unavailable(
        "FLASHWAVE_VALIDATE is 1, which reads lengths and tables back, and the stream is being captured");
  Call host = call;
  std::deque<std::vector<std::int32_t>> copies;
  for (const TensorRow& row : tensor_rows()) {
    View& view = host.*row.member;
    if (row.kind != Kind::int32 || !view.given() || view.empty()) continue;
    // From the element that lies lowest to the one that lies highest: strides may be negative.
    std::int64_t low = 0, high = 0;
    for (int i = 0; i < view.rank; ++i) {
      const std::int64_t far =
          (view.shape[static_cast<std::size_t>(i)] - 1) * view.stride[static_cast<std::size_t>(i)];
      (far < 0 ? low : high) += far;
    }
    std::vector<std::int32_t>& copy = copies.emplace_back(static_cast<std::size_t>(high - low + 1));
    const auto* const first = static_cast<const std::int32_t*>(view.data) + low;
    FW_TRY(device.read_back(call.stream, copy.data(), first, copy.size() * sizeof(std::int32_t)));
    view.data = copy.data() - low;
  }
  return check_values(host, problem);
}

}  // namespace fw::amd
