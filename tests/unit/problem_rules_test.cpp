// Every rule refuses something: an example for each id, which differs from a legal one by just that fault.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "problem/case.hpp"
#include "problem/refuse.hpp"
#include "problem/rules.hpp"
#include "support.hpp"

namespace fw {
namespace {

using test::Sample;

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
Status problem(void (*fault)(Problem&)) {
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
Status call(void (*fault)(Sample&)) {
  Sample s(sample_sizes);
  fault(s);
  return judge(s.call);
}

// Each differs from a legal line, problem or call by one fault.
constexpr std::pair<std::string_view, std::string_view> lines[] = {
    {"dtype-fp8", "fwd sq1 d8 fp8e4m3fn"},
    {"size-negative", "fwd sq-1 d8 bf16"},
    {"size-limit", "fwd sq1 sk1073741825 d8 bf16"},
    {"rows-limit", "fwd hq4 hkv2 sq536870913 sk1 d8 bf16"},
    {"dim-range", "fwd sq1 d0 bf16"},
    {"dim-range", "fwd sq1 d8 dv0 bf16"},
    {"dim-qk-limit", "fwd sq1 d577 dv8 bf16"},
    {"dim-v-limit", "fwd sq1 d8 dv513 bf16"},
    {"heads-divide", "fwd hq3 hkv2 sq8 d64 bf16"},
    {"heads-divide", "fwd hq33 hkv2 sq8 d64 bf16"},
    {"heads-divide", "fwd hq4 hkv0 sq8 d64 bf16"},
    {"heads-divide", "fwd hq2 hkv4 sq8 d64 bf16"},
    {"scale-finite", "fwd sq1 d8 bf16 scale=inf"},
    {"scale-finite", "fwd sq1 d8 bf16 scale=nan"},
    {"softcap-range", "fwd sq1 d8 bf16 softcap=-1"},
    {"softcap-range", "fwd sq1 d8 bf16 softcap=inf"},
    {"dropout-range", "fwd sq1 d8 bf16 dropout=1"},
    {"dropout-range", "fwd sq1 d8 bf16 dropout=-0.1"},
    {"dropout-range", "fwd sq1 d8 bf16 dropout=nan"},
    {"mask-dropout", "fwd sq1 d8 bf16 want=mask"},
    {"mask-backward", "bwd sq1 d8 bf16 dropout=0.5 want=mask"},
    {"lse-backward", "bwd sq1 d8 bf16 want=lse"},
    {"dlse-forward", "fwd sq1 d8 bf16 want=dlse"},
    {"dbias-forward", "fwd sq1 d8 bf16 bias want=dbias"},
    {"dbias-bias", "bwd sq1 d8 bf16 want=dbias"},
    {"dbias-bool", "bwd sq1 d8 bf16 bias:bool want=dbias"},
    {"dsink-forward", "fwd sq1 d8 bf16 sink want=dsink"},
    {"dsink-sink", "bwd sq1 d8 bf16 want=dsink"},
    {"page-size", "fwd sq1 d8 bf16 paged=0"},
    {"page-size", "fwd sq1 d8 bf16 paged=-4"},
    {"append-cache", "fwd sq1 d8 bf16 append=1"},
    {"append-cache", "fwd sq1 sk8 d8 bf16 paged=4 append=1"},
    {"append-capacity", "fwd sq1 sk3 d8 bf16 cache append=4"},
    {"append-backward", "bwd sq1 d8 bf16 cache append=1"},
    {"rotary-cache", "fwd sq1 d8 bf16 rotary=4"},
    {"rotary-dim", "fwd sq1 d64 bf16 cache rotary=7"},
    {"rotary-dim", "fwd sq1 d8 bf16 cache rotary=10"},
    {"rotary-dim", "fwd sq1 d8 bf16 cache rotary=0"},
    {"rotary-dim", "fwd sq1 d8 bf16 cache rotary=-2"},
    {"rotary-backward", "fwd+bwd sq1 d8 bf16 cache rotary=4"},
    {"batchidx-cache", "fwd sq1 d8 bf16 batchidx"},
    {"batchidx-paged", "fwd sq1 d8 bf16 cache paged=4 batchidx"},
    {"batchidx-backward", "bwd sq1 d8 bf16 cache batchidx"},
    {"leftpad-cache", "fwd sq1 d8 bf16 leftpad"},
    {"leftpad-backward", "bwd sq1 d8 bf16 cache leftpad"},
    {"splits-range", "fwd sq1 d8 bf16 splits=-1"},
    {"splits-range", "fwd sq1 d8 bf16 splits=65536"},
    {"splits-backward", "bwd sq1 d8 bf16 splits=2"},
    {"leftpad-range", "fwd b2 sq1 sk8 d8 bf16 cache leftpad=0,9"},
    {"line-pass", ""},
    {"line-pass", "forward sq1 d8 bf16"},
    {"line-word", "fwd sq1 d8 bf16 casual"},
    {"line-word", "fwd sq1 d8 bf16 fwd"},
    {"line-word", "fwd sq1 d8 dtype"},
    {"line-twice", "fwd sq1 d8 bf16 sq2"},
    {"line-twice", "fwd sq1 d8 bf16 fp16"},
    {"line-twice", "bwd sq1 d8 bf16 sink want=dsink,dsink"},
    {"line-value", "fwd sq1x d8 bf16"},
    {"line-value", "fwd sq99999999999999999999 d8 bf16"},
    {"line-value", "fwd sq=1 d8 bf16"},
    {"line-value", "fwd sq1 d8 bf16 causal=1"},
    {"line-value", "fwd sq1 d8 bf16 window=1"},
    {"line-value", "fwd sq1 d8 bf16 window=1,2147483648"},
    {"line-value", "fwd sq1 d8 bf16 window=1,2,"},
    {"line-value", "fwd sq1 d8 bf16 scale="},
    {"line-value", "fwd sq1 d8 bf16 scale=1e99"},
    {"line-value", "fwd sq1 d8 bf16 bias=bhq1"},
    {"line-value", "fwd sq1 d8 bf16 bias="},
    {"line-value", "fwd sq1 d8 bf16 bias:int8"},
    {"line-value", "fwd sq1 d8 bf16 sink:bool"},
    {"line-value", "fwd sq1 d8 bf16 layout=hsbd"},
    {"line-value", "fwd sq1 d8 bf16 want=lse,,mask"},
    {"line-value", "fwd sq1 d8 bf16 seed=-1"},
    {"line-missing", "fwd d8 bf16"},
    {"line-missing", "fwd sq1 bf16"},
    {"line-missing", "fwd sq1 d8"},
    {"line-batch", "fwd b1048577 sq1 d8 bf16"},
    {"line-reserved", "fwd sq1 d8 bf16 tree"},
    {"line-reserved", "fwd sq1 d8 bf16 keys=1"},
    {"causal-window", "fwd sq1 d8 bf16 causal window=3,5"},
    {"causal-window", "fwd sq1 d8 bf16 window=-1,-1 causal"},
    {"cache-varlen", "fwd sq1 d8 bf16 cache varlen"},
    {"lens-count", "fwd b2 sq4 d8 bf16 varlen lens=1/2"},
    {"lens-range", "fwd b2 sq4 d8 bf16 varlen lens=1,5/2,2"},
    {"lens-range", "fwd b2 sq4 sk8 d8 bf16 cache append=2 lens=4,4/0,7"},
    {"lens-fixed", "fwd b2 sq4 d8 bf16 cache lens=1,4/2,2"},
    {"lens-fixed", "fwd b2 sq4 d8 bf16 lens=random"},
    {"leftpad-count", "fwd b2 sq4 d8 bf16 cache leftpad=1"},
    {"diagonal-count", "fwd b3 sq4 d8 bf16 diagonal=1,2"},
};

const std::pair<std::string_view, void (*)(Problem&)> problems[] = {
    {"pass-known", [](Problem& p) { p.pass = static_cast<Pass>(3); }},
    {"dtype-known", [](Problem& p) { p.dtype = DType::int32; }},
    {"lengths-known", [](Problem& p) { p.lengths = static_cast<Lengths>(-1); }},
    {"alibi-known", [](Problem& p) { p.alibi = static_cast<Alibi>(3); }},
    {"bias-dtype", [](Problem& p) { p.bias.dtype = DType::fp16; }},
    {"sink-dtype", [](Problem& p) { p.sink = DType::uint8; }},
};

const std::pair<std::string_view, void (*)(Sample&)> calls[] = {
    {"diagonal-twice",
     [](Sample& s) {
       s.call.diagonal_given = true;
       s.give_int32(&Call::diagonals, {1, 2});
     }},
    {"page-size",
     [](Sample& s) {
       make_paged(s);
       s.give(&Call::k, DType::bf16, {6, 0, 2, 8});
       s.give(&Call::v, DType::bf16, {6, 0, 2, 8});
     }},
    {"append-cache",
     [](Sample& s) {
       make_append(s);
       s.call.cache_seqlens = {};
     }},
    {"rotary-dim",
     [](Sample& s) {
       make_rotary(s);
       s.give(&Call::rotary_cos, DType::bf16, {16, 0});
       s.give(&Call::rotary_sin, DType::bf16, {16, 0});
     }},
    {"rotary-dtype",
     [](Sample& s) {
       make_rotary(s);
       s.give(&Call::rotary_cos, DType::fp16, {16, 3});
       s.give(&Call::rotary_sin, DType::fp16, {16, 3});
     }},
    {"call-pass", [](Sample& s) { s.call.pass = Pass::both; }},
    {"tensor-missing", [](Sample& s) { s.call.out = {}; }},
    {"tensor-missing",
     [](Sample& s) {
       s.make_backward();
       s.call.lse = {};
     }},
    {"tensor-missing",
     [](Sample& s) {
       make_append(s);
       s.call.v_new = {};
     }},
    {"tensor-missing",
     [](Sample& s) {
       make_varlen(s);
       s.call.cu_seqlens_k = {};
     }},
    {"tensor-missing", [](Sample& s) { s.give_int32(&Call::cu_seqlens_k, {0, 1, 2}); }},
    {"tensor-unused", [](Sample& s) { s.give_like(&Call::dout, &Call::out); }},
    {"tensor-rank", [](Sample& s) { s.give(&Call::k, DType::bf16, {2, 16, 16}); }},
    {"tensor-rank", [](Sample& s) { s.call.bias.rank = 6; }},
    {"tensor-shape", [](Sample& s) { s.give(&Call::v, DType::bf16, {2, 15, 2, 8}); }},
    {"tensor-shape", [](Sample& s) { s.call.k.shape[1] = -16; }},
    {"tensor-shape", [](Sample& s) { s.give(&Call::bias, DType::bf16, {2, 4, 2, 16}); }},
    {"tensor-shape", [](Sample& s) { s.give(&Call::bias, DType::bf16, {2, 4, 3, 1}); }},
    {"tensor-shape",
     [](Sample& s) {
       make_varlen(s);
       s.give(&Call::cu_seqlens_q, DType::int32, {0});
     }},
    {"tensor-shape",
     [](Sample& s) {
       make_varlen(s);
       s.give_int32(&Call::cu_seqlens_k, {0, 9});
     }},
    {"tensor-dtype", [](Sample& s) { s.give(&Call::lse, DType::bf16, {2, 4, 3}); }},
    {"tensor-dtype", [](Sample& s) { s.give(&Call::alibi, DType::bf16, {4}); }},
    {"dtype-mixed", [](Sample& s) { s.give(&Call::k, DType::fp16, {2, 16, 2, 8}); }},
    {"dtype-int64",
     [](Sample& s) {
       make_varlen(s);
       s.give(&Call::cu_seqlens_q, DType::int64, {3});
     }},
    {"tensor-null", [](Sample& s) { s.call.k.data = nullptr; }},
    {"tensor-aligned", [](Sample& s) { s.call.k.data = static_cast<std::byte*>(s.call.k.data) + 1; }},
    {"stride-last", [](Sample& s) { s.call.k.stride[3] = 2; }},
    {"stride-last", [](Sample& s) { s.call.q.stride[3] = -1; }},
    {"stride-last", [](Sample& s) { s.call.q.stride[3] = 0; }},
    {"stride-range",
     [](Sample& s) {  // each within the limit, but not together
       s.call.k.stride[0] = std::int64_t{1} << 58;
       s.call.k.stride[2] = std::int64_t{1} << 58;
       s.call.k.stride[1] = std::int64_t{1} << 54;
     }},
    {"stride-range", [](Sample& s) { s.call.k.stride[0] = std::int64_t{1} << 60; }},
    {"stride-range", [](Sample& s) { s.call.k.stride[0] = std::numeric_limits<std::int64_t>::min(); }},
    {"output-overlap", [](Sample& s) { s.call.out.stride[1] = 0; }},
    {"output-overlap", [](Sample& s) { s.call.out = s.call.q; }},
    {"output-overlap",
     [](Sample& s) {
       s.make_backward();
       s.call.dv = s.call.dk;
     }},
    {"output-overlap",
     [](Sample& s) {  // an append writes k, so v may no longer be a view of it
       make_append(s);
       s.call.v = s.call.k;
     }},
    {"varlen-cache",
     [](Sample& s) {
       make_varlen(s);
       make_cache(s);
     }},
    {"max-seq", [](Sample& s) { s.call.max_seq_q = 4; }},
    {"max-seq", [](Sample& s) { s.call.max_seq_k = 17; }},
    {"max-seq", [](Sample& s) { s.call.max_seq_k = -1; }},
    {"max-seq",
     [](Sample& s) {
       make_paged(s);
       s.call.max_seq_k = 13;
     }},
    {"dropout-origin",
     [](Sample& s) {
       s.call.dropout = 0.5f;
       s.call.origin_k = 4;
       s.call.global_seq_k = 64;
     }},
    {"dropout-origin",
     [](Sample& s) {
       s.call.dropout = 0.5f;
       s.call.origin_head = 4;
     }},
    {"workspace-aligned", [](Sample& s) { s.call.workspace = reinterpret_cast<void*>(128); }},
    {"allocator-pair",
     [](Sample& s) {
       s.call.allocator.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
     }},
    {"cu-seqlens",
     [](Sample& s) {
       make_varlen(s);
       s.give_int32(&Call::cu_seqlens_q, {1, 2, 6});
     }},
    {"cu-seqlens",
     [](Sample& s) {
       make_varlen(s);
       s.give_int32(&Call::cu_seqlens_k, {0, 9, 5});
     }},
    {"cu-seqlens",
     [](Sample& s) {
       make_varlen(s);
       s.call.max_seq_k = 4;
     }},
    {"cu-seqlens-rows",
     [](Sample& s) {
       make_varlen(s);
       s.give_int32(&Call::cu_seqlens_k, {0, 5, 10});
     }},
    {"seqused-range", [](Sample& s) { s.give_int32(&Call::seqused_k, {3, 17}); }},
    {"seqused-range", [](Sample& s) { s.give_int32(&Call::seqused_q, {3, -1}); }},
    {"seqused-range",
     [](Sample& s) {
       make_varlen(s);
       s.give_int32(&Call::seqused_k, {5, 5});
     }},
    {"cache-seqlens", [](Sample& s) { s.give_int32(&Call::cache_seqlens, {-1, 0}); }},
    {"cache-seqlens",
     [](Sample& s) {
       make_paged(s);
       s.give_int32(&Call::cache_seqlens, {12, 13});
     }},
    {"cache-full",
     [](Sample& s) {
       make_append(s);
       s.give_int32(&Call::cache_seqlens, {15, 0});
     }},
    {"block-table",
     [](Sample& s) {
       make_paged(s);
       s[&Call::block_table].assign({0, 1, 2, 3, 4, 6});
     }},
    {"block-table",
     [](Sample& s) {  // the last column is not visible yet, but the append writes there
       make_paged(s);
       make_append(s);
       s.give_int32(&Call::cache_seqlens, {5, 7});
       s.call.left = s.call.right = 0;
       s.call.diagonal_given = true;
       s[&Call::block_table].assign({0, 1, -1, 3, 4, -1});
     }},
    {"batchidx-range",
     [](Sample& s) {
       make_cache(s);
       s.give_int32(&Call::cache_batch_idx, {0, 2});
     }},
    {"batchidx-distinct",
     [](Sample& s) {
       make_append(s);
       s.give_int32(&Call::cache_batch_idx, {1, 1});
     }},
    {"leftpad-range",
     [](Sample& s) {
       make_cache(s);
       s.give_int32(&Call::leftpad, {0, -1});
     }},
    {"rotary-rows",
     [](Sample& s) {
       make_rotary(s);
       s.call.right = 0;
       s.give_int32(&Call::rotary_seqlens, {0, 14});
     }},
    {"rotary-rows",
     [](Sample& s) {
       make_rotary(s);
       s.give_int32(&Call::rotary_seqlens, {0, -1});
     }},
};

void expect_refusal(const Status& status, std::string_view id) {
  EXPECT_FALSE(status.ok()) << id;
  EXPECT_EQ(status.rule(), id) << status.message();
  EXPECT_NE(status.code(), Code::internal) << id;
  EXPECT_GE(status.message().size(), 20u) << id << ": " << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << id;
}

TEST(Rules, EachFaultIsRefusedByItsRule) {
  for (const auto& [id, text] : lines) expect_refusal(line(text), id);
  for (const auto& [id, fault] : problems) expect_refusal(problem(fault), id);
  for (const auto& [id, fault] : calls) expect_refusal(call(fault), id);
}

TEST(Rules, EachRuleHasAnExample) {
  std::set<std::string_view> shown;
  for (const auto& [id, text] : lines) shown.insert(id);
  for (const auto& [id, fault] : problems) shown.insert(id);
  for (const auto& [id, fault] : calls) shown.insert(id);
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

// The longest sequence is read from cu_seqlens, but what is wrong there is said, not what follows from it.
TEST(Rules, ABadCuSeqlensIsNamedBesideTheTensor) {
  const Status status = call([](Sample& s) {
    make_varlen(s);
    s.give_int32(&Call::cu_seqlens_k, {0, 5, 2147483647});
  });
  EXPECT_EQ(status.rule(), "cu-seqlens-rows");
  EXPECT_EQ(status.message(), "cu_seqlens_k ends at 2147483647, but k has 9 rows");
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
