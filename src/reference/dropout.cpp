#include "reference/dropout.hpp"

#include <algorithm>
#include <cmath>

namespace fw::reference {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0],
                        b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

Dropout::Dropout(const Problem& problem, const Call& call)
    : drop_below_(std::min(static_cast<std::uint32_t>(std::lround(call.dropout * 65536.0)), 65535u)),
      seed_(call.seed),
      offset_(call.offset),
      origin_batch_(call.origin_batch),
      origin_head_(call.origin_head),
      origin_query_(call.origin_q),
      origin_slot_(call.origin_k),
      heads_(call.global_heads ? call.global_heads : problem.heads_q),
      queries_(call.global_seq_q ? call.global_seq_q : problem.seq_q),
      slots_(call.global_seq_k ? call.global_seq_k : problem.seq_k) {}

std::vector<std::uint8_t> Dropout::kept(std::int64_t b, std::int64_t head, std::int64_t query,
                                        std::int64_t begin, std::int64_t end) const {
  const std::int64_t row =
      ((b + origin_batch_) * heads_ + head + origin_head_) * queries_ + query + origin_query_;
  const std::int64_t calls_a_row = (slots_ + 7) / 8;
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
  std::array<std::uint32_t, 4> numbers{};
  for (std::int64_t slot = begin; slot < end; ++slot) {
    const std::int64_t j = slot + origin_slot_;
    if (slot == begin || j % 8 == 0) {
      const std::uint64_t counter = offset_ + static_cast<std::uint64_t>(row * calls_a_row + j / 8);
      numbers = philox4x32_10(
          {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
          {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    }
    const std::uint32_t number = numbers[j % 8 / 2] >> (j % 2 * 16) & 0xffffu;
    kept[slot - begin] = number >= drop_below_;
  }
  return kept;
}

}  // namespace fw::reference
