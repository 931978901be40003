#include "plan/workspace.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "plan/bytes.hpp"
#include "plan/splits.hpp"

namespace fw {
namespace {

Status too_large(std::string_view what) {
  return exhausted(say("the ", what, " of this call would take more bytes than an address can count"));
}

}  // namespace

Status room_for(const Problem& p, const Plan& plan, Room& out) {
  const Bytes rows = Bytes(p.seq_q) * Bytes(p.heads_q) * Bytes(p.batch);
  const std::int64_t uncut_rows = p.seq_q * p.group();
  const Bytes split = plan.split_keys == 0 ? rows
                                           : Bytes(std::min<std::int64_t>(uncut_rows, split_rows)) *
                                                 Bytes(p.heads_k) * Bytes(p.batch);
  const std::int64_t ranges = most_ranges(plan.splits, plan.split_keys, p.seq_k);
  const Bytes partials = p.forward() && ranges > 1 ? split * Bytes(ranges) : Bytes();
  const Bytes queries = p.rotary.dim > 0 ? rows : Bytes();
  const Bytes deltas = p.backward() ? rows : Bytes();
  const Bytes shares = p.backward() ? rows * Bytes(plan.chunks) : Bytes();
  if (partials.overflow() || queries.overflow() || shares.overflow()) return too_large("workspace");
  const auto count = [](Bytes bytes) { return static_cast<std::int64_t>(bytes.value()); };
  out = {count(partials), count(queries), count(deltas), count(shares)};
  return {};
}

Status lay_out(const Problem& p, const Room& room, Workspace& out) {
  constexpr std::int64_t fp32 = sizeof(float);
  Bytes end;
  const auto carve = [&end](std::size_t& offset, Bytes size) {
    offset = end.value();
    end = (end + size).rounded_up(256);
  };
  out = {};
  carve(out.partial_out, Bytes(room.partials) * Bytes(p.dim_v) * Bytes(fp32));
  carve(out.partial_lse, Bytes(room.partials) * Bytes(fp32));
  out.partial_bytes = end.value();
  carve(out.query,
        Bytes(room.queries) * Bytes(p.dim_qk) * Bytes(static_cast<std::int64_t>(size_of(p.dtype))));
  carve(out.delta, Bytes(room.deltas) * Bytes(fp32));
  carve(out.dq, Bytes(room.shares) * Bytes(p.dim_qk) * Bytes(fp32));
  out.bytes = end.value();
  return end.overflow() ? too_large("workspace") : Status();
}

Status reckon_workspace(Plan& plan) {
  Room room;
  Workspace workspace;
  FW_TRY(room_for(plan.problem, plan, room));
  FW_TRY(lay_out(plan.problem, room, workspace));
  plan.workspace = workspace.bytes;
  plan.partial_bytes = workspace.partial_bytes;
  return {};
}

}  // namespace fw
