// Every rule refuses something: an example for each id, which differs from a legal one by just that fault.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>

#include "problem/case.hpp"
#include "problem/refuse.hpp"
#include "problem/rules.hpp"
#include "support.hpp"

namespace fw {
namespace {

using test::Sample;

struct Example {
  std::string_view id;
  std::function<Status()> attempt;
};

Status line(std::string_view text) {
  Case ignored;
  return parse(text, ignored);
}

Problem legal() {
  Problem p;
  p.dtype = DType::bf16;
  p.batch = 2;
  p.heads_q = 4;
  p.heads_k = 2;
  p.seq_q = 3;
  p.seq_k = 16;
  p.dim_qk = p.dim_v = 8;
  return p;
}
Status problem(const std::function<void(Problem&)>& fault) {
  Problem p = legal();
  fault(p);
  return check(p);
}

constexpr test::Sizes sample_sizes{2, 4, 2, 3, 16, 8, 8, DType::bf16};

void make_cache(Sample& s) { s.give_int32(&Call::cache_seqlens, {5, 9}); }
void make_append(Sample& s) {
  make_cache(s);
  s.give(&Call::k_new, DType::bf16, {2, 2, 2, 8}).randomize(6);
  s.give(&Call::v_new, DType::bf16, {2, 2, 2, 8}).randomize(7);
}
void make_rotary(Sample& s) {
  make_cache(s);
  s.give(&Call::rotary_cos, DType::bf16, {16, 3}).randomize(8);
  s.give(&Call::rotary_sin, DType::bf16, {16, 3}).randomize(9);
}
void make_paged(Sample& s) {
  s.give(&Call::k, DType::bf16, {6, 4, 2, 8}).randomize(2);
  s.give(&Call::v, DType::bf16, {6, 4, 2, 8}).randomize(3);
  s.give(&Call::block_table, DType::int32, {2, 3}).assign({0, 1, 2, 3, 4, 5});
}
void make_varlen(Sample& s) {
  s.give(&Call::q, DType::bf16, {6, 4, 8}).randomize(1);
  s.give(&Call::k, DType::bf16, {9, 2, 8}).randomize(2);
  s.give(&Call::v, DType::bf16, {9, 2, 8}).randomize(3);
  s.give(&Call::out, DType::bf16, {6, 4, 8});
  s.give(&Call::lse, DType::fp32, {4, 6});
  s.give_int32(&Call::cu_seqlens_q, {0, 2, 6});
  s.give_int32(&Call::cu_seqlens_k, {0, 5, 9});
}

Status judge(const Call& call) {
  Problem p;
  FW_TRY(describe(call, p));
  return check_values(call, p);
}
Status call(const std::function<void(Sample&)>& fault) {
  Sample s(sample_sizes);
  fault(s);
  return judge(s.call);
}

const Example examples[] = {
    {"pass-known", [] { return problem([](Problem& p) { p.pass = static_cast<Pass>(3); }); }},
    {"dtype-known", [] { return problem([](Problem& p) { p.dtype = DType::int32; }); }},
    {"dtype-fp8", [] { return line("fwd sq1 d8 fp8e4m3fn"); }},
    {"lengths-known", [] { return problem([](Problem& p) { p.lengths = static_cast<Lengths>(-1); }); }},
    {"alibi-known", [] { return problem([](Problem& p) { p.alibi = static_cast<Alibi>(3); }); }},
    {"size-negative", [] { return line("fwd sq-1 d8 bf16"); }},
    {"size-limit", [] { return line("fwd sq1 sk1073741825 d8 bf16"); }},
    {"rows-limit", [] { return line("fwd hq4 hkv2 sq536870913 sk1 d8 bf16"); }},
    {"dim-range", [] { return line("fwd sq1 d0 bf16"); }},
    {"dim-range", [] { return line("fwd sq1 d8 dv0 bf16"); }},
    {"dim-qk-limit", [] { return line("fwd sq1 d577 dv8 bf16"); }},
    {"dim-v-limit", [] { return line("fwd sq1 d8 dv513 bf16"); }},
    {"heads-divide", [] { return line("fwd hq3 hkv2 sq8 d64 bf16"); }},
    {"heads-divide", [] { return line("fwd hq33 hkv2 sq8 d64 bf16"); }},
    {"heads-divide", [] { return line("fwd hq4 hkv0 sq8 d64 bf16"); }},
    {"heads-divide", [] { return line("fwd hq2 hkv4 sq8 d64 bf16"); }},
    {"diagonal-twice",
     [] {
       return call([](Sample& s) {
         s.call.diagonal_given = true;
         s.give_int32(&Call::diagonals, {1, 2});
       });
     }},
    {"scale-finite", [] { return line("fwd sq1 d8 bf16 scale=inf"); }},
    {"scale-finite", [] { return line("fwd sq1 d8 bf16 scale=nan"); }},
    {"softcap-range", [] { return line("fwd sq1 d8 bf16 softcap=-1"); }},
    {"softcap-range", [] { return line("fwd sq1 d8 bf16 softcap=inf"); }},
    {"bias-dtype", [] { return problem([](Problem& p) { p.bias.dtype = DType::fp16; }); }},
    {"sink-dtype", [] { return problem([](Problem& p) { p.sink = DType::uint8; }); }},
    {"dropout-range", [] { return line("fwd sq1 d8 bf16 dropout=1"); }},
    {"dropout-range", [] { return line("fwd sq1 d8 bf16 dropout=-0.1"); }},
    {"dropout-range", [] { return line("fwd sq1 d8 bf16 dropout=nan"); }},
    {"mask-dropout", [] { return line("fwd sq1 d8 bf16 want=mask"); }},
    {"mask-backward", [] { return line("bwd sq1 d8 bf16 dropout=0.5 want=mask"); }},
    {"lse-backward", [] { return line("bwd sq1 d8 bf16 want=lse"); }},
    {"dlse-forward", [] { return line("fwd sq1 d8 bf16 want=dlse"); }},
    {"dbias-forward", [] { return line("fwd sq1 d8 bf16 bias want=dbias"); }},
    {"dbias-bias", [] { return line("bwd sq1 d8 bf16 want=dbias"); }},
    {"dbias-bool", [] { return line("bwd sq1 d8 bf16 bias:bool want=dbias"); }},
    {"dsink-forward", [] { return line("fwd sq1 d8 bf16 sink want=dsink"); }},
    {"dsink-sink", [] { return line("bwd sq1 d8 bf16 want=dsink"); }},
    {"page-size", [] { return line("fwd sq1 d8 bf16 paged=0"); }},
    {"page-size", [] { return line("fwd sq1 d8 bf16 paged=-4"); }},
    {"page-size",
     [] {
       return call([](Sample& s) {
         make_paged(s);
         s.give(&Call::k, DType::bf16, {6, 0, 2, 8});
         s.give(&Call::v, DType::bf16, {6, 0, 2, 8});
       });
     }},
    {"append-cache", [] { return line("fwd sq1 d8 bf16 append=1"); }},
    {"append-cache", [] { return line("fwd sq1 sk8 d8 bf16 paged=4 append=1"); }},
    {"append-cache",
     [] {
       return call([](Sample& s) {
         make_append(s);
         s.call.cache_seqlens = {};
       });
     }},
    {"append-capacity", [] { return line("fwd sq1 sk3 d8 bf16 cache append=4"); }},
    {"append-backward", [] { return line("bwd sq1 d8 bf16 cache append=1"); }},
    {"rotary-cache", [] { return line("fwd sq1 d8 bf16 rotary=4"); }},
    {"rotary-dim", [] { return line("fwd sq1 d64 bf16 cache rotary=7"); }},
    {"rotary-dim", [] { return line("fwd sq1 d8 bf16 cache rotary=10"); }},
    {"rotary-dim", [] { return line("fwd sq1 d8 bf16 cache rotary=0"); }},
    {"rotary-dim", [] { return line("fwd sq1 d8 bf16 cache rotary=-2"); }},
    {"rotary-dim",
     [] {
       return call([](Sample& s) {
         make_rotary(s);
         s.give(&Call::rotary_cos, DType::bf16, {16, 0});
         s.give(&Call::rotary_sin, DType::bf16, {16, 0});
       });
     }},
    {"rotary-dtype",
     [] {
       return call([](Sample& s) {
         make_rotary(s);
         s.give(&Call::rotary_cos, DType::fp16, {16, 3});
         s.give(&Call::rotary_sin, DType::fp16, {16, 3});
       });
     }},
    {"rotary-backward", [] { return line("fwd+bwd sq1 d8 bf16 cache rotary=4"); }},
    {"batchidx-cache", [] { return line("fwd sq1 d8 bf16 batchidx"); }},
    {"batchidx-paged", [] { return line("fwd sq1 d8 bf16 cache paged=4 batchidx"); }},
    {"batchidx-backward", [] { return line("bwd sq1 d8 bf16 cache batchidx"); }},
    {"leftpad-cache", [] { return line("fwd sq1 d8 bf16 leftpad"); }},
    {"leftpad-backward", [] { return line("bwd sq1 d8 bf16 cache leftpad"); }},
    {"splits-range", [] { return line("fwd sq1 d8 bf16 splits=-1"); }},
    {"splits-range", [] { return line("fwd sq1 d8 bf16 splits=65536"); }},
    {"splits-backward", [] { return line("bwd sq1 d8 bf16 splits=2"); }},

    {"call-pass", [] { return call([](Sample& s) { s.call.pass = Pass::both; }); }},
    {"tensor-missing", [] { return call([](Sample& s) { s.call.out = {}; }); }},
    {"tensor-missing",
     [] {
       return call([](Sample& s) {
         s.make_backward();
         s.call.lse = {};
       });
     }},
    {"tensor-missing",
     [] {
       return call([](Sample& s) {
         make_append(s);
         s.call.v_new = {};
       });
     }},
    {"tensor-missing",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.call.cu_seqlens_k = {};
       });
     }},
    {"tensor-missing", [] { return call([](Sample& s) { s.give_int32(&Call::cu_seqlens_k, {0, 1, 2}); }); }},
    {"tensor-unused", [] { return call([](Sample& s) { s.give_like(&Call::dout, &Call::out); }); }},
    {"tensor-rank", [] { return call([](Sample& s) { s.give(&Call::k, DType::bf16, {2, 16, 16}); }); }},
    {"tensor-rank", [] { return call([](Sample& s) { s.call.bias.rank = 6; }); }},
    {"tensor-shape", [] { return call([](Sample& s) { s.give(&Call::v, DType::bf16, {2, 15, 2, 8}); }); }},
    {"tensor-shape", [] { return call([](Sample& s) { s.call.k.shape[1] = -16; }); }},
    {"tensor-shape", [] { return call([](Sample& s) { s.give(&Call::bias, DType::bf16, {2, 4, 2, 16}); }); }},
    {"tensor-shape", [] { return call([](Sample& s) { s.give(&Call::bias, DType::bf16, {2, 4, 3, 1}); }); }},
    {"tensor-shape",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give(&Call::cu_seqlens_q, DType::int32, {0});
       });
     }},
    {"tensor-shape",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give_int32(&Call::cu_seqlens_k, {0, 9});
       });
     }},
    {"tensor-dtype", [] { return call([](Sample& s) { s.give(&Call::lse, DType::bf16, {2, 4, 3}); }); }},
    {"tensor-dtype", [] { return call([](Sample& s) { s.give(&Call::alibi, DType::bf16, {4}); }); }},
    {"dtype-mixed", [] { return call([](Sample& s) { s.give(&Call::k, DType::fp16, {2, 16, 2, 8}); }); }},
    {"dtype-int64",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give(&Call::cu_seqlens_q, DType::int64, {3});
       });
     }},
    {"tensor-null", [] { return call([](Sample& s) { s.call.k.data = nullptr; }); }},
    {"tensor-aligned",
     [] { return call([](Sample& s) { s.call.k.data = static_cast<std::byte*>(s.call.k.data) + 1; }); }},
    {"stride-last", [] { return call([](Sample& s) { s.call.k.stride[3] = 2; }); }},
    {"stride-last", [] { return call([](Sample& s) { s.call.q.stride[3] = -1; }); }},
    {"stride-last", [] { return call([](Sample& s) { s.call.q.stride[3] = 0; }); }},
    {"stride-range", [] { return call([](Sample& s) { s.call.k.stride[0] = std::int64_t{1} << 60; }); }},
    {"stride-range",
     [] { return call([](Sample& s) { s.call.k.stride[0] = std::numeric_limits<std::int64_t>::min(); }); }},
    {"output-overlap", [] { return call([](Sample& s) { s.call.out.stride[1] = 0; }); }},
    {"output-overlap", [] { return call([](Sample& s) { s.call.out = s.call.q; }); }},
    {"output-overlap",
     [] {
       return call([](Sample& s) {
         s.make_backward();
         s.call.dv = s.call.dk;
       });
     }},
    {"output-overlap",
     [] {
       return call([](Sample& s) {  // an append writes k, so v may no longer be a view of it
         make_append(s);
         s.call.v = s.call.k;
       });
     }},
    {"varlen-cache",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         make_cache(s);
       });
     }},
    {"max-seq", [] { return call([](Sample& s) { s.call.max_seq_q = 4; }); }},
    {"max-seq", [] { return call([](Sample& s) { s.call.max_seq_k = 17; }); }},
    {"max-seq", [] { return call([](Sample& s) { s.call.max_seq_k = -1; }); }},
    {"max-seq",
     [] {
       return call([](Sample& s) {
         make_paged(s);
         s.call.max_seq_k = 13;
       });
     }},
    {"dropout-origin",
     [] {
       return call([](Sample& s) {
         s.call.dropout = 0.5f;
         s.call.origin_k = 4;
         s.call.global_seq_k = 64;
       });
     }},
    {"dropout-origin",
     [] {
       return call([](Sample& s) {
         s.call.dropout = 0.5f;
         s.call.origin_head = 4;
       });
     }},
    {"workspace-aligned",
     [] { return call([](Sample& s) { s.call.workspace = reinterpret_cast<void*>(128); }); }},
    {"allocator-pair",
     [] {
       return call([](Sample& s) {
         s.call.allocator.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
       });
     }},

    {"cu-seqlens",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give_int32(&Call::cu_seqlens_q, {1, 2, 6});
       });
     }},
    {"cu-seqlens",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give_int32(&Call::cu_seqlens_k, {0, 9, 5});
       });
     }},
    {"cu-seqlens",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.call.max_seq_k = 4;
       });
     }},
    {"cu-seqlens-rows",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give_int32(&Call::cu_seqlens_k, {0, 5, 10});
       });
     }},
    {"seqused-range", [] { return call([](Sample& s) { s.give_int32(&Call::seqused_k, {3, 17}); }); }},
    {"seqused-range", [] { return call([](Sample& s) { s.give_int32(&Call::seqused_q, {3, -1}); }); }},
    {"seqused-range",
     [] {
       return call([](Sample& s) {
         make_varlen(s);
         s.give_int32(&Call::seqused_k, {5, 5});
       });
     }},
    {"cache-seqlens", [] { return call([](Sample& s) { s.give_int32(&Call::cache_seqlens, {-1, 0}); }); }},
    {"cache-seqlens",
     [] {
       return call([](Sample& s) {
         make_paged(s);
         s.give_int32(&Call::cache_seqlens, {12, 13});
       });
     }},
    {"cache-full",
     [] {
       return call([](Sample& s) {
         make_append(s);
         s.give_int32(&Call::cache_seqlens, {15, 0});
       });
     }},
    {"block-table",
     [] {
       return call([](Sample& s) {
         make_paged(s);
         s[&Call::block_table].assign({0, 1, 2, 3, 4, 6});
       });
     }},
    {"block-table",
     [] {
       return call([](Sample& s) {  // the last column is not visible yet, but the append writes there
         make_paged(s);
         make_append(s);
         s.give_int32(&Call::cache_seqlens, {5, 7});
         s.call.left = s.call.right = 0;
         s.call.diagonal_given = true;
         s[&Call::block_table].assign({0, 1, -1, 3, 4, -1});
       });
     }},
    {"batchidx-range",
     [] {
       return call([](Sample& s) {
         make_cache(s);
         s.give_int32(&Call::cache_batch_idx, {0, 2});
       });
     }},
    {"batchidx-distinct",
     [] {
       return call([](Sample& s) {
         make_append(s);
         s.give_int32(&Call::cache_batch_idx, {1, 1});
       });
     }},
    {"leftpad-range", [] { return line("fwd b2 sq1 sk8 d8 bf16 cache leftpad=0,9"); }},
    {"leftpad-range",
     [] {
       return call([](Sample& s) {
         make_cache(s);
         s.give_int32(&Call::leftpad, {0, -1});
       });
     }},
    {"rotary-rows",
     [] {
       return call([](Sample& s) {
         make_rotary(s);
         s.call.right = 0;
         s.give_int32(&Call::rotary_seqlens, {0, 14});
       });
     }},
    {"rotary-rows",
     [] {
       return call([](Sample& s) {
         make_rotary(s);
         s.give_int32(&Call::rotary_seqlens, {0, -1});
       });
     }},

    {"line-pass", [] { return line(""); }},
    {"line-pass", [] { return line("forward sq1 d8 bf16"); }},
    {"line-word", [] { return line("fwd sq1 d8 bf16 casual"); }},
    {"line-word", [] { return line("fwd sq1 d8 bf16 fwd"); }},
    {"line-word", [] { return line("fwd sq1 d8 dtype"); }},
    {"line-twice", [] { return line("fwd sq1 d8 bf16 sq2"); }},
    {"line-twice", [] { return line("fwd sq1 d8 bf16 fp16"); }},
    {"line-twice", [] { return line("bwd sq1 d8 bf16 sink want=dsink,dsink"); }},
    {"line-value", [] { return line("fwd sq1x d8 bf16"); }},
    {"line-value", [] { return line("fwd sq99999999999999999999 d8 bf16"); }},
    {"line-value", [] { return line("fwd sq=1 d8 bf16"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 causal=1"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 window=1"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 window=1,2147483648"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 window=1,2,"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 scale="); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 scale=1e99"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 bias=bhq1"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 bias="); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 bias:int8"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 sink:bool"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 layout=hsbd"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 want=lse,,mask"); }},
    {"line-value", [] { return line("fwd sq1 d8 bf16 seed=-1"); }},
    {"line-missing", [] { return line("fwd d8 bf16"); }},
    {"line-missing", [] { return line("fwd sq1 bf16"); }},
    {"line-missing", [] { return line("fwd sq1 d8"); }},
    {"line-reserved", [] { return line("fwd sq1 d8 bf16 tree"); }},
    {"line-reserved", [] { return line("fwd sq1 d8 bf16 keys=1"); }},
    {"causal-window", [] { return line("fwd sq1 d8 bf16 causal window=3,5"); }},
    {"causal-window", [] { return line("fwd sq1 d8 bf16 window=-1,-1 causal"); }},
    {"cache-varlen", [] { return line("fwd sq1 d8 bf16 cache varlen"); }},
    {"lens-count", [] { return line("fwd b2 sq4 d8 bf16 varlen lens=1/2"); }},
    {"lens-range", [] { return line("fwd b2 sq4 d8 bf16 varlen lens=1,5/2,2"); }},
    {"lens-range", [] { return line("fwd b2 sq4 sk8 d8 bf16 cache append=2 lens=4,4/0,7"); }},
    {"lens-fixed", [] { return line("fwd b2 sq4 d8 bf16 cache lens=1,4/2,2"); }},
    {"lens-fixed", [] { return line("fwd b2 sq4 d8 bf16 lens=random"); }},
    {"leftpad-count", [] { return line("fwd b2 sq4 d8 bf16 cache leftpad=1"); }},
    {"diagonal-count", [] { return line("fwd b3 sq4 d8 bf16 diagonal=1,2"); }},
};

TEST(Rules, EachExampleIsRefusedByItsRule) {
  for (const Example& example : examples) {
    const Status status = example.attempt();
    EXPECT_FALSE(status.ok()) << example.id;
    EXPECT_EQ(status.rule(), example.id) << status.message();
    EXPECT_NE(status.code(), Code::internal) << example.id;
    EXPECT_GE(status.message().size(), 20u) << example.id << ": " << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << example.id;
  }
}

TEST(Rules, EachRuleHasAnExample) {
  std::set<std::string_view> shown;
  for (const Example& example : examples) shown.insert(example.id);
  for (const std::string_view id : rule_ids()) EXPECT_TRUE(shown.contains(id)) << "no example breaks " << id;
}

TEST(Rules, IdsAreDistinct) {
  const std::set<std::string_view> distinct(rule_ids().begin(), rule_ids().end());
  EXPECT_EQ(distinct.size(), rule_ids().size());
}

TEST(Rules, WhatTheExamplesStartFromIsLegal) {
  EXPECT_TRUE(check(legal()).ok());
  for (const auto& make : {make_cache, make_append, make_rotary, make_paged, make_varlen}) {
    const Status status = call(make);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const Status backward = call([](Sample& s) { s.make_backward(); });
  EXPECT_TRUE(backward.ok()) << backward.message();
}

TEST(Rules, LimitsAreUnsupportedNotInvalid) {
  EXPECT_EQ(line("fwd sq1 d577 bf16").code(), Code::unsupported);
  EXPECT_EQ(line("fwd sq1 d8 dv513 bf16").code(), Code::unsupported);
  EXPECT_EQ(line("fwd sq1 d8 fp8e5m2").code(), Code::unsupported);
  EXPECT_EQ(line("fwd sq1 d8 bf16 tree").code(), Code::unsupported);
  EXPECT_EQ(line("fwd hq3 hkv2 sq8 d64 bf16").code(), Code::invalid);
}

TEST(Rules, SentencesNameWhatWasWrongAndTheLimit) {
  EXPECT_NE(line("fwd sq1 d577 bf16").message().find("577"), std::string::npos);
  EXPECT_NE(line("fwd sq1 d577 bf16").message().find("576"), std::string::npos);
  const std::string heads = line("fwd hq3 hkv2 sq8 d64 bf16").message();
  EXPECT_NE(heads.find("hq 3"), std::string::npos);
  EXPECT_NE(heads.find("hkv 2"), std::string::npos);
  // int64 lengths are the most common mistake: the sentence says what to give.
  const std::string int64 = call([](Sample& s) {
                              make_varlen(s);
                              s.give(&Call::cu_seqlens_q, DType::int64, {3});
                            }).message();
  EXPECT_NE(int64.find("int32"), std::string::npos);
  EXPECT_NE(int64.find("cu_seqlens_q"), std::string::npos);
}

}  // namespace
}  // namespace fw
