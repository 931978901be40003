#include "support/members.hpp"

#include "support/tensor.hpp"

namespace tools {

namespace {

using Call = flashwave_attention;

constexpr Member all_members[] = {
    {"q", &Call::q, Part::input, Heads::query, 2},
    {"k", &Call::k, Part::input, Heads::key, 2},
    {"v", &Call::v, Part::input, Heads::key, 2},
    {"out", &Call::out, Part::answer, Heads::query, 2},
    {"lse", &Call::lse, Part::answer, Heads::query, 2},
    {"dout", &Call::dout, Part::incoming, Heads::query, 2},
    {"dlse", &Call::dlse, Part::incoming, Heads::query, 2},
    {"dq", &Call::dq, Part::gradient, Heads::query, 2},
    {"dk", &Call::dk, Part::gradient, Heads::key, 2},
    {"dv", &Call::dv, Part::gradient, Heads::key, 2},
    {"dbias", &Call::dbias, Part::gradient, Heads::query, 3},
    {"dsink", &Call::dsink, Part::gradient, Heads::query, 1},
    {"alibi", &Call::alibi, Part::input, Heads::query, 1},
    {"bias", &Call::bias, Part::input, Heads::query, 3},
    {"sink", &Call::sink, Part::input, Heads::query, 1},
    {"dropout_mask", &Call::dropout_mask, Part::extra, Heads::query, 3},
    {"cu_seqlens_q", &Call::cu_seqlens_q, Part::input},
    {"cu_seqlens_k", &Call::cu_seqlens_k, Part::input},
    {"seqused_q", &Call::seqused_q, Part::input},
    {"seqused_k", &Call::seqused_k, Part::input},
    {"diagonals", &Call::diagonals, Part::input},
    {"cache_seqlens", &Call::cache_seqlens, Part::input},
    {"block_table", &Call::block_table, Part::input},
    {"cache_batch_idx", &Call::cache_batch_idx, Part::input},
    {"leftpad", &Call::leftpad, Part::input},
    {"k_new", &Call::k_new, Part::input, Heads::key, 2},
    {"v_new", &Call::v_new, Part::input, Heads::key, 2},
    {"rotary_cos", &Call::rotary_cos, Part::input},
    {"rotary_sin", &Call::rotary_sin, Part::input},
    {"rotary_seqlens", &Call::rotary_seqlens, Part::input},
};

Call without(Call call, std::initializer_list<Part> parts) {
  for (const Member& member : all_members)
    for (const Part part : parts)
      if (member.part == part) call.*member.tensor = {};
  return call;
}

}  // namespace

std::span<const Member> members() { return all_members; }

bool is_written(const Member& member, const Call& call) {
  if (!given(call.*member.tensor)) return false;
  if (call.pass == FLASHWAVE_BACKWARD) return member.part == Part::gradient;
  const bool cache = given(call.k_new) && (member.name == "k" || member.name == "v");
  return member.part == Part::answer || member.part == Part::extra || cache;
}

Call of_kv_head(const Call& call, std::int64_t head) {
  const std::int64_t heads_q = call.q.shape[call.q.rank - 2], heads_k = call.k.shape[call.k.rank - 2];
  const std::int64_t group = heads_q / heads_k;
  Call part = call;
  for (const Member& member : all_members) {
    flashwave_tensor& t = part.*member.tensor;
    if (!given(t) || member.heads == Heads::none) continue;
    const int axis = t.rank - member.from_end;
    if (member.heads == Heads::key) {
      t = narrow(t, axis, head, 1);
    } else if (t.shape[axis] == heads_q) {  // else a bias that broadcasts over heads
      t = narrow(t, axis, head * group, group);
    }
  }
  // The dropout numbers are those of the whole.
  part.origin_head = call.origin_head + head * group;
  part.global_heads = call.global_heads > 0 ? call.global_heads : heads_q;
  return part;
}

Call forward_of(const Call& call) {
  Call forward = without(call, {Part::answer, Part::extra, Part::incoming, Part::gradient});
  forward.pass = FLASHWAVE_FORWARD;
  return forward;
}

Call backward_of(const Call& call) {
  Call backward = without(call, {Part::extra, Part::gradient});
  backward.pass = FLASHWAVE_BACKWARD;
  return backward;
}

}  // namespace tools
