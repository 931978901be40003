#include "problem/counts.hpp"

#include "problem/visible.hpp"

namespace fw {
namespace {

struct Sizes {  // summed over the batch
  double rows = 0, keys = 0, pairs = 0;
};

Sizes sizes_of(const Case& c) {
  const Problem& p = c.problem;
  const Extents lengths = extents(c);
  Sizes sum;
  for (std::size_t b = 0; b < lengths.queries.size(); ++b) {
    const Sequence s{lengths.queries[b], lengths.keys[b] + p.append, lengths.leftpad[b],
                     lengths.diagonals[b]};
    sum.rows += static_cast<double>(s.queries);
    sum.keys += static_cast<double>(s.keys);
    sum.pairs += static_cast<double>(visible_pairs(p, s));
  }
  return sum;
}

double bias_bytes(const Problem& p) {
  const double batch = p.bias.batch ? static_cast<double>(p.batch) : 1;
  const double heads = p.bias.head ? static_cast<double>(p.heads_q) : 1;
  const double rows = p.bias.query ? static_cast<double>(p.seq_q) : 1;
  return batch * heads * rows * static_cast<double>(p.seq_k) * static_cast<double>(size_of(p.bias.dtype));
}

// Tensors a pass reads or writes once. What is small beside them (slopes, sinks, lengths, tables) does not
// count.
double bytes_of(const Problem& p, const Sizes& sum, Pass pass) {
  const auto element = static_cast<double>(size_of(p.dtype));
  const auto heads_q = static_cast<double>(p.heads_q);
  const auto heads_k = static_cast<double>(p.heads_k);
  const auto dim_qk = static_cast<double>(p.dim_qk);
  const auto dim_v = static_cast<double>(p.dim_v);
  const double q = sum.rows * heads_q * dim_qk * element;
  const double out = sum.rows * heads_q * dim_v * element;
  const double kv = sum.keys * heads_k * (dim_qk + dim_v) * element;
  const double lse = sum.rows * heads_q * sizeof(float);
  if (pass == Pass::forward) {
    const auto appended = static_cast<double>(p.batch * p.append) * heads_k * (dim_qk + dim_v) * element;
    const double mask =
        static_cast<double>(p.batch) * heads_q * static_cast<double>(p.seq_q) * static_cast<double>(p.seq_k);
    return q + kv + out + appended + bias_bytes(p) + (p.want_lse ? lse : 0) + (p.want_mask ? mask : 0);
  }
  // q, k, v and their gradients; out, dout; lse and dlse; bias and dbias.
  return 2 * q + 2 * kv + 2 * out + lse * (p.want_dlse ? 2 : 1) + bias_bytes(p) * (p.want_dbias ? 2 : 1);
}

}  // namespace

Counts count(const Case& c, Pass pass) {
  const Problem& p = c.problem;
  const Sizes sum = sizes_of(c);
  const auto dim_qk = static_cast<double>(p.dim_qk);
  const auto dim_v = static_cast<double>(p.dim_v);
  Counts out;
  out.pairs = sum.pairs * static_cast<double>(p.heads_q);
  if (pass != Pass::backward) {
    out.flops += out.pairs * 2 * (dim_qk + dim_v);
    out.bytes += bytes_of(p, sum, Pass::forward);
  }
  if (pass != Pass::forward) {
    out.flops += out.pairs * 2 * (3 * dim_qk + 2 * dim_v);
    out.bytes += bytes_of(p, sum, Pass::backward);
  }
  return out;
}

}  // namespace fw
