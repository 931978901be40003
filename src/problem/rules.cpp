// Every validity rule of a Problem, a row each: id, what breaks it, the sentence.
#include "problem/rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "problem/refuse.hpp"

namespace fw {
namespace {

struct Rule {
  RuleId id;
  bool (*broken)(const Problem&);
  std::string (*sentence)(const Problem&);
  Code code = Code::invalid;
};

// Kernels count rows, keys and sequences in 32 bits, with room for a tile beyond the last.
constexpr std::int64_t count_limit = std::int64_t{1} << 30;
constexpr int splits_limit = 65535;

bool is_fp8(DType dtype) {
  return dtype == DType::fp8e4m3fn || dtype == DType::fp8e4m3fnuz || dtype == DType::fp8e5m2 ||
         dtype == DType::fp8e5m2fnuz;
}
bool enum_outside(int value, int last) { return value < 0 || value > last; }

std::int64_t smallest_size(const Problem& p) {
  return std::min({p.batch, p.heads_q, p.heads_k, p.seq_q, p.seq_k, p.pages, p.append});
}
std::int64_t largest_size(const Problem& p) {
  return std::max({p.batch, p.heads_q, p.heads_k, p.seq_q, p.seq_k, p.page_size, p.pages, p.append});
}
// cache_seqlens exists: in caches, and where a ragged batch of queries reads pages.
bool has_filled_length(const Problem& p) {
  return p.lengths == Lengths::cache || (p.lengths == Lengths::varlen && p.page_size > 0);
}
bool is_own_or_fp32(DType dtype, const Problem& p) { return dtype == p.dtype || dtype == DType::fp32; }

const Rule rules[] = {
    // What is asked at all.
    {"pass-known", [](const Problem& p) { return enum_outside(static_cast<int>(p.pass), 2); },
     [](const Problem& p) {
       return say("pass is ", static_cast<int>(p.pass), "; it is 0 forward, 1 backward or 2 both");
     }},
    {"dtype-fp8", [](const Problem& p) { return is_fp8(p.dtype); },
     [](const Problem& p) {
       return say("dtype ", name_of(p.dtype), " is not there yet; use fp32, fp16 or bf16");
     },
     Code::unsupported},
    {"dtype-known",
     [](const Problem& p) {
       return p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16;
     },
     [](const Problem& p) {
       return say("dtype is ", name_of(p.dtype), "; q, k, v and out are fp32, fp16 or bf16");
     }},
    {"lengths-known", [](const Problem& p) { return enum_outside(static_cast<int>(p.lengths), 2); },
     [](const Problem& p) {
       return say("lengths is ", static_cast<int>(p.lengths), "; it is 0 dense, 1 varlen or 2 cache");
     }},
    {"alibi-known", [](const Problem& p) { return enum_outside(static_cast<int>(p.alibi), 2); },
     [](const Problem& p) {
       return say("alibi is ", static_cast<int>(p.alibi),
                  "; it is 0 none, 1 a slope a head or 2 a slope a batch and head");
     }},

    // Sizes.
    {"size-negative", [](const Problem& p) { return smallest_size(p) < 0; },
     [](const Problem& p) {
       return say("a size is ", smallest_size(p),
                  ", but batch, heads, lengths, pages and append are 0 or more");
     }},
    {"page-size", [](const Problem& p) { return p.page_size < 0; },
     [](const Problem& p) { return say("the page size is ", p.page_size, "; a page holds 1 slot or more"); }},
    {"size-limit", [](const Problem& p) { return largest_size(p) > count_limit; },
     [](const Problem& p) {
       return say("a size is ", largest_size(p), "; batch, heads, lengths, pages and append go up to ",
                  count_limit);
     },
     Code::unsupported},
    {"dim-range", [](const Problem& p) { return p.dim_qk < 1 || p.dim_v < 1; },
     [](const Problem& p) {
       return say("the head dimensions are d ", p.dim_qk, " and dv ", p.dim_v, "; each is 1 or more");
     }},
    {"dim-qk-limit", [](const Problem& p) { return p.dim_qk > max_dim_qk; },
     [](const Problem& p) {
       return say("d, the head dimension of q and k, is ", p.dim_qk, "; the limit is ", max_dim_qk);
     },
     Code::unsupported},
    {"dim-v-limit", [](const Problem& p) { return p.dim_v > max_dim_v; },
     [](const Problem& p) {
       return say("dv, the head dimension of v, is ", p.dim_v, "; the limit is ", max_dim_v);
     },
     Code::unsupported},
    {"heads-divide",
     [](const Problem& p) { return p.heads_k == 0 ? p.heads_q != 0 : p.heads_q % p.heads_k != 0; },
     [](const Problem& p) {
       return say("hq ", p.heads_q, " is not a multiple of hkv ", p.heads_k,
                  ": each kv head serves equally many q heads");
     }},
    {"rows-limit",
     [](const Problem& p) { return p.seq_q * std::max<std::int64_t>(p.group(), 1) > count_limit; },
     [](const Problem& p) {
       return say("sq ", p.seq_q, " times hq/hkv ", p.group(), " is more than the ", count_limit,
                  " rows a kv head can take");
     },
     Code::unsupported},

    // Scores.
    {"diagonal-twice", [](const Problem& p) { return p.diagonal_given && p.diagonal_per_batch; },
     [](const Problem&) {
       return say("diagonal and diagonals are both given; one of them says where the mask stands");
     }},
    {"scale-finite", [](const Problem& p) { return p.scale && !std::isfinite(*p.scale); },
     [](const Problem& p) { return say("scale is ", *p.scale, "; it is any finite number"); }},
    {"softcap-range", [](const Problem& p) { return !std::isfinite(p.softcap) || p.softcap < 0; },
     [](const Problem& p) {
       return say("softcap is ", p.softcap, "; it is 0 (off) or a positive finite number");
     }},
    {"bias-dtype",
     [](const Problem& p) {
       return p.bias.given() && p.bias.dtype != DType::uint8 && !is_own_or_fp32(p.bias.dtype, p);
     },
     [](const Problem& p) {
       return say("bias is ", name_of(p.bias.dtype), "; beside ", name_of(p.dtype), " tensors it is ",
                  name_of(p.dtype), ", fp32 or uint8 (bool)");
     }},
    {"sink-dtype", [](const Problem& p) { return p.sink != DType::none && !is_own_or_fp32(p.sink, p); },
     [](const Problem& p) {
       return say("sink is ", name_of(p.sink), "; beside ", name_of(p.dtype), " tensors it is ",
                  name_of(p.dtype), " or fp32");
     }},
    {"dropout-range", [](const Problem& p) { return !(p.dropout >= 0 && p.dropout < 1); },
     [](const Problem& p) {
       return say("dropout is ", p.dropout, "; it is a probability from 0 to less than 1");
     }},

    // What is wanted beside the answer.
    {"mask-dropout", [](const Problem& p) { return p.want_mask && p.dropout == 0; },
     [](const Problem&) { return say("the dropout mask is wanted without dropout: nothing is dropped"); }},
    {"mask-backward", [](const Problem& p) { return p.want_mask && !p.forward(); },
     [](const Problem&) { return say("the dropout mask is wanted of bwd, but only fwd writes it"); }},
    {"lse-backward", [](const Problem& p) { return p.want_lse && !p.forward(); },
     [](const Problem&) {
       return say("lse is wanted of bwd, but only fwd writes it (bwd always reads it)");
     }},
    {"dlse-forward", [](const Problem& p) { return p.want_dlse && !p.backward(); },
     [](const Problem&) { return say("dlse is given to fwd, but only bwd takes a gradient of lse"); }},
    {"dbias-forward", [](const Problem& p) { return p.want_dbias && !p.backward(); },
     [](const Problem&) { return say("dbias is wanted of fwd, but only bwd computes it"); }},
    {"dbias-bias", [](const Problem& p) { return p.want_dbias && !p.bias.given(); },
     [](const Problem&) { return say("dbias is wanted without bias"); }},
    {"dbias-bool", [](const Problem& p) { return p.want_dbias && p.bias.dtype == DType::uint8; },
     [](const Problem&) { return say("dbias is wanted of a bool bias, which has no gradient"); }},
    {"dsink-forward", [](const Problem& p) { return p.want_dsink && !p.backward(); },
     [](const Problem&) { return say("dsink is wanted of fwd, but only bwd computes it"); }},
    {"dsink-sink", [](const Problem& p) { return p.want_dsink && p.sink == DType::none; },
     [](const Problem&) { return say("dsink is wanted without sink"); }},

    // Caches.
    {"append-backward", [](const Problem& p) { return p.append > 0 && p.backward(); },
     [](const Problem&) { return say("append with bwd: new keys are written to the cache by fwd only"); }},
    {"append-cache", [](const Problem& p) { return p.append > 0 && !has_filled_length(p); },
     [](const Problem&) {
       return say("append without cache: it needs cache_seqlens, the slots already filled");
     }},
    {"append-capacity", [](const Problem& p) { return p.append > p.seq_k; },
     [](const Problem& p) {
       return say("append ", p.append, " is more than the cache's capacity, ", p.seq_k, " slots");
     }},
    {"rotary-backward", [](const Problem& p) { return p.rotary.dim != 0 && p.backward(); },
     [](const Problem&) { return say("rotary with bwd: rotary is applied by fwd only"); }},
    {"rotary-cache", [](const Problem& p) { return p.rotary.dim != 0 && !has_filled_length(p); },
     [](const Problem&) {
       return say("rotary without cache: it needs cache_seqlens, where the new tokens stand");
     }},
    {"rotary-dim",
     [](const Problem& p) {
       return p.rotary.dim != 0 && (p.rotary.dim < 0 || p.rotary.dim % 2 != 0 || p.rotary.dim > p.dim_qk);
     },
     [](const Problem& p) {
       return say("rotary turns ", p.rotary.dim, " elements; it is an even number from 2 to d, which is ",
                  p.dim_qk);
     }},
    {"rotary-dtype", [](const Problem& p) { return p.rotary.dim != 0 && !is_own_or_fp32(p.rotary.dtype, p); },
     [](const Problem& p) {
       return say("rotary_cos and rotary_sin are ", name_of(p.rotary.dtype), "; beside ", name_of(p.dtype),
                  " tensors they are ", name_of(p.dtype), " or fp32");
     }},
    {"batchidx-paged", [](const Problem& p) { return p.batch_index && p.page_size > 0; },
     [](const Problem&) {
       return say("cache_batch_idx (batchidx) with paged: the block table already says where rows are");
     }},
    {"batchidx-backward", [](const Problem& p) { return p.batch_index && p.backward(); },
     [](const Problem&) {
       return say("cache_batch_idx (batchidx) with bwd: gradients of a shared cache row have no place");
     }},
    {"batchidx-cache", [](const Problem& p) { return p.batch_index && p.lengths != Lengths::cache; },
     [](const Problem&) { return say("cache_batch_idx (batchidx) without cache: it needs cache_seqlens"); }},
    {"leftpad-backward", [](const Problem& p) { return p.leftpad && p.backward(); },
     [](const Problem&) { return say("leftpad with bwd: padded caches are read by fwd only"); }},
    {"leftpad-cache", [](const Problem& p) { return p.leftpad && !p.cached(); },
     [](const Problem&) {
       return say("leftpad without cache: it counts padding slots of a dense or paged cache");
     }},
    {"splits-range", [](const Problem& p) { return p.splits < 0 || p.splits > splits_limit; },
     [](const Problem& p) {
       return say("splits is ", p.splits, "; it is 0 (chosen here) to ", splits_limit);
     }},
    {"splits-backward", [](const Problem& p) { return p.splits > 0 && p.backward(); },
     [](const Problem& p) { return say("splits ", p.splits, " with bwd: only fwd splits the keys"); }},
};

}  // namespace

Status check(const Problem& problem) {
  for (const Rule& rule : rules)
    if (rule.broken(problem)) return {rule.code, rule.sentence(problem), std::string(rule.id.text)};
  return {};
}

std::span<const std::string_view> rule_ids() { return all_rule_ids; }

}  // namespace fw
