#include "cpu/append.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/convert.hpp"
#include "cpu/pool.hpp"
#include "meaning/keys.hpp"
#include "meaning/rotary.hpp"

namespace fw::cpu {
namespace {

constexpr double bytes_per_second = 1e9;  // of one thread, converting and turning

const std::int32_t* ints_of(const View& view) { return static_cast<const std::int32_t*>(view.data); }

// Row (token, head) of a tensor whose first token lies at `offset`.
std::byte* row_at(void* data, DType dtype, i64 offset) {
  return static_cast<std::byte*>(data) + offset * static_cast<i64>(size_of(dtype));
}

// The cosines and sines of one position, which all heads of a token share.
class Turn {
 public:
  Turn(const Problem& problem, const Call& call)
      : dim_(problem.rotary.dim),
        interleaved_(problem.rotary.interleaved),
        cos_(call.rotary_cos),
        sin_(call.rotary_sin) {}

  void place(i64 position) {
    for (int t = 0; t < dim_ / 2; ++t) {
      cosines_[t] = load_float(cos_.data, cos_.dtype, position * cos_.stride[0] + t);
      sines_[t] = load_float(sin_.data, sin_.dtype, position * sin_.stride[0] + t);
    }
  }

  // A row of `count` elements: those that rotary covers turned in fp32 and rounded once, the others copied.
  void apply(void* to, const void* from, DType dtype, i64 count) const {
    switch (dtype) {
      case DType::fp16: turn_pairs<DType::fp16>(to, from); break;
      case DType::bf16: turn_pairs<DType::bf16>(to, from); break;
      default: turn_pairs<DType::fp32>(to, from);
    }
    const std::size_t size = size_of(dtype), done = static_cast<std::size_t>(dim_) * size;
    std::memcpy(static_cast<std::byte*>(to) + done, static_cast<const std::byte*>(from) + done,
                static_cast<std::size_t>(count) * size - done);
  }

 private:
  template <DType dtype>
  void turn_pairs(void* to, const void* from) const {
    for (int t = 0; t < dim_ / 2; ++t) {
      const host::Pair pair = host::rotary_pair(t, dim_, interleaved_);
      float first = load_float(from, dtype, pair.first), second = load_float(from, dtype, pair.second);
      host::turn(first, second, cosines_[t], sines_[t]);
      store_float(to, dtype, pair.first, first);
      store_float(to, dtype, pair.second, second);
    }
  }

  int dim_;
  bool interleaved_;
  View cos_, sin_;
  float cosines_[max_dim_qk / 2], sines_[max_dim_qk / 2];
};

// Position of a sequence's first new token.
i64 first_position(const Call& call, int batch) {
  return ints_of(call.rotary_seqlens.given() ? call.rotary_seqlens : call.cache_seqlens)[batch];
}

// Calls body(batch, first token, end) so that all sequences' `tokens` tokens are covered.
template <class Body>
void each_block(int batch, i64 tokens, double bytes_a_token, Body body) {
  constexpr i64 block = 16;
  const i64 blocks = (tokens + block - 1) / block;
  const auto tasks = static_cast<int>(batch * blocks);
  const double seconds = static_cast<double>(batch * tokens) * bytes_a_token / bytes_per_second;
  parallel_for(team_for(tasks, seconds), tasks, [&](int task, int) {
    const i64 first = task % blocks * block;
    body(static_cast<int>(task / blocks), first, std::min(tokens, first + block));
  });
}

}  // namespace

void append_keys(const Problem& p, const Call& call, const Args& args) {
  if (p.append == 0 || p.heads_k == 0) return;
  const auto size = static_cast<i64>(size_of(p.dtype));
  const auto bytes = static_cast<double>(p.heads_k * (p.dim_qk + p.dim_v) * size);
  each_block(args.batch, p.append, bytes, [&](int b, i64 first, i64 end) {
    host::Sequence sequence = host::sequence_of(args, b);
    sequence.first_slot = 0;  // slots count padding
    Turn turn(p, call);
    for (i64 token = first; token < end; ++token) {
      const auto slot = static_cast<int>(ints_of(call.cache_seqlens)[b] + token);
      i64 key_offset = 0, value_offset = 0;
      const host::Range one{slot, slot + 1};
      host::each_run(args, args.k, sequence, 0, one, [&](int, int, i64 offset) { key_offset = offset; });
      host::each_run(args, args.v, sequence, 0, one, [&](int, int, i64 offset) { value_offset = offset; });
      if (p.rotary.dim > 0) turn.place(first_position(call, b) + token);
      for (i64 head = 0; head < p.heads_k; ++head) {
        const View &k = call.k_new, &v = call.v_new;
        const void* const key =
            row_at(k.data, p.dtype, b * k.stride[0] + token * k.stride[1] + head * k.stride[2]);
        const void* const value =
            row_at(v.data, p.dtype, b * v.stride[0] + token * v.stride[1] + head * v.stride[2]);
        void* const key_slot = row_at(args.k.data, p.dtype, key_offset + head * args.k.head);
        void* const value_slot = row_at(args.v.data, p.dtype, value_offset + head * args.v.head);
        if (p.rotary.dim > 0)
          turn.apply(key_slot, key, p.dtype, p.dim_qk);
        else
          std::memcpy(key_slot, key, static_cast<std::size_t>(p.dim_qk * size));
        std::memcpy(value_slot, value, static_cast<std::size_t>(p.dim_v * size));
      }
    }
  });
}

void rotate_queries(const Problem& p, const Call& call, void* memory, Args& args) {
  if (p.rotary.dim == 0) return;
  const Tensor from = args.q;
  const i64 row = p.heads_q * p.dim_qk;
  const Tensor to{memory, args.cu_seqlens_q ? 0 : p.seq_q * row, row, p.dim_qk};
  const bool masked = p.left >= 0 || p.right >= 0;
  const auto bytes = static_cast<double>(row) * static_cast<double>(size_of(p.dtype));
  each_block(args.batch, p.seq_q, bytes, [&](int b, i64 first, i64 end) {
    const host::Sequence sequence = host::sequence_of(args, b);
    Turn turn(p, call);
    for (i64 query = first; query < std::min<i64>(end, sequence.queries); ++query) {
      turn.place(host::rotary_position(first_position(call, b), query, masked));
      for (int head = 0; head < args.heads_q; ++head) {
        const auto i = static_cast<int>(query);
        turn.apply(row_at(to.data, p.dtype, host::query_offset(to, sequence, i, head)),
                   row_at(from.data, p.dtype, host::query_offset(from, sequence, i, head)), p.dtype,
                   p.dim_qk);
      }
    }
  });
  args.q = to;
}

}  // namespace fw::cpu
