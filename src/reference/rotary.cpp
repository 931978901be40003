#include "reference/rotary.hpp"

#include <algorithm>

namespace fw::reference {
namespace {

// (x0, x1) turns to (x0 cos - x1 sin, x0 sin + x1 cos). Pairs are neighbours, or lie half the rotated width
// apart.
void rotate(std::vector<float>& row, const Call& call, int64_t position) {
  const int64_t pairs = call.rotary_cos.shape[1];
  for (int64_t t = 0; t < pairs; ++t) {
    const auto cos = static_cast<float>(load(call.rotary_cos, position * call.rotary_cos.stride[0] + t));
    const auto sin = static_cast<float>(load(call.rotary_sin, position * call.rotary_sin.stride[0] + t));
    float& x0 = row[call.rotary_interleaved ? 2 * t : t];
    float& x1 = row[call.rotary_interleaved ? 2 * t + 1 : t + pairs];
    const float turned = x0 * cos - x1 * sin;
    x1 = x0 * sin + x1 * cos;
    x0 = turned;
  }
}

// Slots filled before the append; whoever appends or rotates gives them.
int64_t filled(const Call& call, const Sequence& s) { return integer(call.cache_seqlens, s.batch); }

int64_t first_position(const Call& call, const Sequence& s) {
  return call.rotary_seqlens.given() ? integer(call.rotary_seqlens, s.batch) : filled(call, s);
}

// Row t of sequence b in (B,New,H,D).
int64_t new_index(const View& view, int64_t b, int64_t t, int64_t head) {
  return b * view.stride[0] + t * view.stride[1] + head * view.stride[2];
}

}  // namespace

template <class Real>
void load_query(Real* to, const Head& head, int64_t query) {
  const Call& call = head.call();
  const Sequence& s = head.sequence;
  const int64_t width = head.attention.dim_qk, index = row_index(call.q, s.first_query + query, head.q);
  if (!call.rotary_cos.given()) return load_row(to, call.q, index, width);

  // Without a mask the order of the queries means nothing, and all stand at the first position.
  const bool ordered = call.left >= 0 || call.right >= 0;
  std::vector<float> row(width);
  load_row(row.data(), call.q, index, width);
  rotate(row, call, first_position(call, s) + (ordered ? query : 0));
  std::transform(row.begin(), row.end(), to, [&](float x) { return rounded(x, call.q.dtype); });
}
template void load_query(float*, const Head&, int64_t);
template void load_query(double*, const Head&, int64_t);

void append(const Attention& a, const Sequence& s) {
  const Call& call = a.call;
  std::vector<float> row(a.dim_qk);
  for (int64_t t = 0; t < a.appended(); ++t) {
    const int64_t to = key_row(call, s, filled(call, s) + t);
    for (int64_t h = 0; h < a.heads_k; ++h) {
      load_row(row.data(), call.k_new, new_index(call.k_new, s.batch, t, h), a.dim_qk);
      if (call.rotary_cos.given()) rotate(row, call, first_position(call, s) + t);
      for (int64_t d = 0; d < a.dim_qk; ++d) store(call.k, row_index(call.k, to, h) + d, row[d]);
      for (int64_t d = 0; d < a.dim_v; ++d)
        store(call.v, row_index(call.v, to, h) + d,
              load(call.v_new, new_index(call.v_new, s.batch, t, h) + d));
    }
  }
}

}  // namespace fw::reference
