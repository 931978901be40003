#include "amd/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "backend/args.hpp"
#include "base/text.hpp"
#include "plan/choose.hpp"
#include "plan/splits.hpp"
#include "plan/workspace.hpp"

namespace fw::amd {
namespace {

bool is_attention(const Kernel& kernel) {
  switch (kernel.kind) {
    case Kind::plain:
    case Kind::fast:
    case Kind::scored:
    case Kind::decode: return true;
    default: return false;
  }
}

using host::divide_up;

std::int64_t packed_rows(const Problem& p) { return p.seq_q * p.group(); }

// Why an attention kernel does not run a problem.
enum class Misfit { none, too_wide, other_width, paged, scored, many_rows };

Misfit misfit_of(const Kernel& kernel, const Problem& p) {
  const bool fast = kernel.kind == Kind::fast;
  if (p.dim_qk > kernel.dim_qk || p.dim_v > kernel.dim_v) return Misfit::too_wide;
  if (fast && (p.dim_qk != kernel.dim_qk || p.dim_v != kernel.dim_v)) return Misfit::other_width;
  if (fast && p.page_size > 0) return Misfit::paged;
  if ((kernel.kind == Kind::plain || fast) && scored(p)) return Misfit::scored;
  if (kernel.kind == Kind::decode && packed_rows(p) > kernel.rows) return Misfit::many_rows;
  return Misfit::none;
}

std::string sentence(Misfit misfit, const Kernel& kernel, const Problem& p) {
  switch (misfit) {
    case Misfit::none: return {};
    case Misfit::too_wide: return say("it takes d up to ", kernel.dim_qk, " and dv up to ", kernel.dim_v);
    case Misfit::other_width: return say("it takes d ", kernel.dim_qk, " and dv ", kernel.dim_v, " alone");
    case Misfit::paged: return "it takes no pages";
    case Misfit::scored: return "the problem has softcap, ALiBi, bias, dropout or scale 0";
    case Misfit::many_rows:
      return say("it takes up to ", kernel.rows, " rows a kv head, these are ", packed_rows(p));
  }
  return {};
}

// Splits that keep a device busy, when a workgroup takes so many rows.
Splits splits_for(const Problem& p, const Kernel& kernel, int units) {
  if (p.splits == 0 && p.deterministic && packed_rows(p) > split_rows)
    return {1, 0, say("deterministic: sequences of more than ", split_rows, " rows are not split")};
  constexpr int groups_a_unit = 2;
  return choose_splits(p, {std::int64_t{units} * groups_a_unit, kernel.rows});
}

// Modelled seconds. A round is what all units do at once; its length is that of a whole tile, however few
// rows and elements of it count.
double cost(const Kernel& kernel, const Problem& p, int splits, int units) {
  const double rows = static_cast<double>(divide_up(std::max<std::int64_t>(packed_rows(p), 1), kernel.rows));
  const double groups = rows * static_cast<double>(p.batch * p.heads_k * splits);
  const double rounds = std::ceil(groups / std::max(units, 1));
  const double used =
      static_cast<double>(p.batch * p.heads_q * p.seq_q) * static_cast<double>(2 * (p.dim_qk + p.dim_v));
  const double keys = used > 0 ? modelled_flops(p) / used : 0;  // that an average row sees
  const double unit_flops = p.dtype == DType::fp32 ? 4e11 : 4e12;
  const double seconds =
      rounds * kernel.rows * 2.0 * (kernel.dim_qk + kernel.dim_v) * keys / splits / unit_flops;
  constexpr double shared_rows = 32;  // a tile of keys is read once for all rows of a workgroup
  const double dearer = kernel.kind == Kind::scored ? 1.3 : kernel.kind == Kind::fast ? 0.7 : 1.0;
  return seconds * (1 + shared_rows / kernel.rows) * dearer;
}

// Those of one architecture; asked for in every call.
using Kernels = std::vector<const Kernel*>;
const Kernels& kernels_of(std::string_view arch) {
  static const auto* all = [] {
    auto made = std::make_unique<std::map<std::string, Kernels, std::less<>>>();
    for (const Kernel& kernel : all_kernels()) (*made)[kernel.code.arch].push_back(&kernel);
    return made.release();
  }();
  static const Kernels none;
  const auto found = all->find(arch);
  return found == all->end() ? none : found->second;
}

bool runs(const Kernel& kernel, const Problem& p) {
  return is_attention(kernel) && kernel.dtype == p.dtype && misfit_of(kernel, p) == Misfit::none;
}

struct Best {
  const Kernel* kernel = nullptr;
  Splits splits;
  double cost = 0;
};

Best best_of(const Problem& p, const gpu::Description& device, bool substitute) {
  Best best;
  for (const Kernel* kernel : kernels_of(device.arch)) {
    if (!runs(*kernel, p) || (substitute && kernel->kind == Kind::fast)) continue;
    Splits splits = splits_for(p, *kernel, device.units);
    const double seconds = cost(*kernel, p, splits.count, device.units);
    if (best.kernel == nullptr || seconds < best.cost) best = {kernel, std::move(splits), seconds};
  }
  return best;
}

void list_candidates(const Problem& p, const gpu::Description& device, const Best& best,
                     std::vector<Candidate>& out) {
  for (const Kernel* kernel : kernels_of(device.arch)) {
    if (!is_attention(*kernel) || kernel->dtype != p.dtype) continue;
    Candidate candidate{kernel->code.name, sentence(misfit_of(*kernel, p), *kernel, p), 0};
    candidate.cost = cost(*kernel, p, splits_for(p, *kernel, device.units).count, device.units);
    if (candidate.declined.empty() && kernel != best.kernel)
      candidate.declined =
          say("it takes ", std::round(candidate.cost / best.cost * 100) / 100, " times as long");
    out.push_back(std::move(candidate));
  }
}

struct Need {
  const Kernel* Team::* member;
  Kind kind;
  const char* what;
  bool needed;
};

std::array<Need, 5> needs_of(const Problem& p, bool split) {
  return {{{&Team::combine, Kind::combine, "merging splits", split},
           {&Team::append, Kind::append, "append", p.append > 0},
           {&Team::rotate, Kind::rotate, "rotary", p.rotary.dim > 0},
           {&Team::fill, Kind::fill, "ragged queries", p.seqused_q || p.lengths == Lengths::varlen},
           {&Team::mask, Kind::mask, "the dropout mask", p.want_mask}}};
}

// How rows are moved is known in full only with their addresses and strides.
std::string mover_of(const Problem& p) {
  const auto whole = [&](std::int64_t dim) {
    return dim * static_cast<std::int64_t>(size_of(p.dtype)) % 16 == 0;
  };
  if (whole(p.dim_qk) && whole(p.dim_v))
    return "16 bytes at a time where addresses and strides are multiples of 16";
  if (whole(p.dim_qk)) return "an element at a time, as rows of v are no multiple of 16 bytes";
  if (whole(p.dim_v)) return "an element at a time, as rows of k are no multiple of 16 bytes";
  return "an element at a time, as rows are no multiple of 16 bytes";
}

}  // namespace

const Kernel* find_kernel(std::string_view arch, Kind kind, DType dtype) {
  for (const Kernel* kernel : kernels_of(arch))
    if (kernel->kind == kind && (kernel->dtype == dtype || kernel->dtype == DType::none)) return kernel;
  return nullptr;
}

const Kernel* find_kernel(std::string_view arch, std::string_view name) {
  for (const Kernel* kernel : kernels_of(arch))
    if (name == kernel->code.name) return kernel;
  return nullptr;
}

Team helpers_of(const Problem& p, std::string_view arch, int splits) {
  Team team;
  for (const Need& need : needs_of(p, splits > 1))
    if (need.needed) team.*need.member = find_kernel(arch, need.kind, p.dtype);
  return team;
}

const Kernel* find_substitute(const Problem& p, const gpu::Description& device) {
  return best_of(p, device, true).kernel;
}

std::optional<std::string> declines(const Problem& p, const gpu::Description& device) {
  if (p.backward()) return say("there is no backward kernel for ", device.arch, " yet");
  if (auto reason = too_far(p)) return reason;
  // Where the mask stands is known on the device only, and must not leave an int there.
  constexpr std::int64_t widest = 2 * longest_sequence;
  if (p.diagonal_per_batch && std::max(p.left, p.right) > widest)
    return say("beside diagonals a window is open or at most ", widest, " wide; this one is ",
               std::max(p.left, p.right));
  const Kernels& kernels = kernels_of(device.arch);
  if (std::none_of(kernels.begin(), kernels.end(), [&](const Kernel* kernel) { return runs(*kernel, p); }))
    return say("this build has no kernel for ", device.arch, " that takes ", name_of(p.dtype), " with d ",
               p.dim_qk, ", dv ", p.dim_v, scored(p) ? " and changed scores" : "");
  for (const Need& need : needs_of(p, p.splits != 1))
    if (need.needed && find_kernel(device.arch, need.kind, p.dtype) == nullptr)
      return say("this build has no kernel for ", device.arch, " that does ", need.what);
  return {};
}

Status choose(const Problem& p, const gpu::Description& device, Plan& out) {
  out = {};
  const Best best = best_of(p, device, false);
  if (best.kernel == nullptr) return unavailable(say("no kernel of this build can run here"));
  list_candidates(p, device, best, out.candidates);
  out.problem = p;
  out.device = device.name;
  out.instance = best.kernel->code.name;
  out.loader = say(loader_of(p), ", ", mover_of(p));
  out.tile_q = best.kernel->rows;
  out.tile_k = best.kernel->keys;
  out.splits = best.splits.count;
  out.split_keys = best.splits.keys;
  return reckon_workspace(out);
}

}  // namespace fw::amd
