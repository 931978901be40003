#include "machine/wave.hpp"

#include <algorithm>

#include "decode/program.hpp"

namespace cdna {
namespace {

constexpr size_t kMostPending[] = {63, 15};  // what the counters can hold

}  // namespace

const Instruction& Wave::current() const { return program->code[pc ? pc - 1 : 0]; }

void Wave::push(Counter counter, Late late) {
  std::deque<Late>& queue = pending[static_cast<int>(counter)];
  const size_t most = kMostPending[static_cast<int>(counter)];
  if (queue.size() >= most) settle(counter, most - 1);
  queue.push_back(std::move(late));
}

void Wave::settle(Counter counter, size_t left) {
  std::deque<Late>& queue = pending[static_cast<int>(counter)];
  const bool unordered = std::any_of(queue.begin(), queue.end(), [](const Late& l) { return l.unordered; });
  if (unordered && left) return;  // which of them have come back is unknown
  while (queue.size() > left) {
    const Late next = std::move(queue.front());
    queue.pop_front();
    if (next.finish) next.finish(*this);
  }
}

void Wave::poison(const Operand& o, uint64_t lanes) {
  if (!late) return;
  for (int n = 0; n < o.count; ++n)
    for (int l = 0; l < kLanes; ++l)
      if (lanes >> l & 1) v[o.index + n][l] = kPoison;
}

}  // namespace cdna
