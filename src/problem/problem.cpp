#include "problem/problem.hpp"

#include <bit>
#include <cmath>

namespace fw {
namespace {

// Mixes each value into the hash as SplitMix64 mixes its state.
class Hash {
 public:
  Hash& add(std::uint64_t value) {
    std::uint64_t z = state_ + 0x9e3779b97f4a7c15u + value;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    state_ = z ^ (z >> 31);
    return *this;
  }
  Hash& add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  Hash& add(int value) { return add(static_cast<std::int64_t>(value)); }
  Hash& add(bool value) { return add(static_cast<std::int64_t>(value)); }
  // 0.0f and -0.0f are equal, so they hash alike.
  Hash& add(float value) {
    return add(std::uint64_t{std::bit_cast<std::uint32_t>(value == 0 ? 0.0f : value)});
  }
  template <class Enum>
    requires std::is_enum_v<Enum>
  Hash& add(Enum value) {
    return add(static_cast<int>(value));
  }
  std::size_t value() const { return static_cast<std::size_t>(state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

float Problem::scale_or_default() const {
  return scale ? *scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim_qk)));
}

std::size_t ProblemHash::operator()(const Problem& p) const {
  Hash hash;
  hash.add(p.pass).add(p.dtype);
  hash.add(p.batch).add(p.heads_q).add(p.heads_k).add(p.seq_q).add(p.seq_k).add(p.dim_qk).add(p.dim_v);
  hash.add(p.left).add(p.right).add(p.diagonal_given).add(p.diagonal_per_batch).add(p.diagonal);
  hash.add(p.scale.has_value()).add(p.scale.value_or(0)).add(p.softcap).add(p.alibi);
  hash.add(p.bias.dtype).add(p.bias.batch).add(p.bias.head).add(p.bias.query);
  hash.add(p.sink).add(p.dropout);
  hash.add(p.lengths).add(p.seqused_q).add(p.seqused_k).add(p.page_size).add(p.pages).add(p.append);
  hash.add(p.rotary.dim).add(p.rotary.interleaved).add(p.rotary.dtype);
  hash.add(p.batch_index).add(p.leftpad).add(p.splits);
  hash.add(p.want_lse).add(p.want_mask).add(p.want_dlse).add(p.want_dbias).add(p.want_dsink);
  hash.add(p.deterministic);
  return hash.value();
}

}  // namespace fw
