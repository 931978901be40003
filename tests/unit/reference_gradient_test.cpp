// Gradients of the oracle against finite differences of its own forward pass, all in double.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "reference/reference.hpp"
#include "support.hpp"

namespace fw::test {
namespace {

using reference::Mode;

struct Feature {
  std::string name;
  Sizes sizes;
  std::function<void(Sample&)> add;
};
std::ostream& operator<<(std::ostream& out, const Feature& feature) { return out << feature.name; }

constexpr DType fp64 = DType::fp64;
constexpr Sizes small{
    .batch = 2, .heads_q = 4, .heads_k = 2, .seq_q = 5, .seq_k = 7, .dim_qk = 3, .dim_v = 4, .dtype = fp64};
constexpr Sizes tall{
    .batch = 2, .heads_q = 2, .heads_k = 1, .seq_q = 6, .seq_k = 3, .dim_qk = 4, .dim_v = 2, .dtype = fp64};

void give_bias(Sample& s, std::vector<std::int64_t> shape) { s.give(&Call::bias, fp64, shape).randomize(6); }

void make_varlen(Sample& s) {
  s.problem.lengths = Lengths::varlen;
  s.give_int32(&Call::cu_seqlens_q, {0, 5, 8});
  s.give_int32(&Call::cu_seqlens_k, {0, 4, 11});
  s.give_int32(&Call::seqused_k, {4, 6});
  s.give(&Call::q, fp64, {9, 4, 3}).randomize(1);
  s.give(&Call::k, fp64, {12, 2, 3}).randomize(2);
  s.give(&Call::v, fp64, {12, 2, 4}).randomize(3);
  s.give(&Call::out, fp64, {9, 4, 4});
  s.give(&Call::lse, fp64, {4, 9});
}

// Sequence 0 reads page 2 twice, sequence 1 once.
void make_paged(Sample& s) {
  s.problem.page_size = 3;
  s.give(&Call::k, fp64, {5, 3, 2, 3}).randomize(2);
  s.give(&Call::v, fp64, {5, 3, 2, 4}).randomize(3);
  s.give(&Call::block_table, DType::int32, {2, 3}).assign({2, 0, 2, 1, 2, -1});
  s.give_int32(&Call::seqused_k, {7, 5});
}

const std::vector<Feature> features = {
    {"plain", small, [](Sample&) {}},
    {"causal", small, [](Sample& s) { s.call.right = 0; }},
    {"causal_with_empty_rows", tall, [](Sample& s) { s.call.right = 0; }},
    {"window", small, [](Sample& s) { s.call.left = 1, s.call.right = 2; }},
    {"diagonal", small,
     [](Sample& s) { s.call.right = 0, s.call.diagonal_given = true, s.call.diagonal = -2; }},
    {"diagonals", small, [](Sample& s) { s.call.right = 1, s.give_int32(&Call::diagonals, {0, 3}); }},
    {"scale", small, [](Sample& s) { s.call.scale_given = true, s.call.scale = -0.7f; }},
    {"softcap", small, [](Sample& s) { s.call.softcap = 1.5f; }},
    {"alibi", small, [](Sample& s) { s.give(&Call::alibi, fp64, {4}).assign({0.1, 0.2, 0.3, 0.4}); }},
    {"alibi_per_batch", small, [](Sample& s) { s.give(&Call::alibi, fp64, {2, 4}).randomize(9); }},
    {"bias", small, [](Sample& s) { give_bias(s, {2, 4, 5, 7}); }},
    {"bias_for_all_batches", small, [](Sample& s) { give_bias(s, {1, 4, 5, 7}); }},
    {"bias_for_all_heads", small, [](Sample& s) { give_bias(s, {2, 1, 5, 7}); }},
    {"bias_for_all_queries", small, [](Sample& s) { give_bias(s, {1, 1, 1, 7}); }},
    {"bias_with_hidden_keys", small,
     [](Sample& s) {
       give_bias(s, {1, 1, 5, 7});
       for (const int hidden : {0, 3, 8, 14, 15, 16, 17, 18, 19, 20}) s[&Call::bias].set(hidden, -infinity);
     }},
    {"bool_bias", small,
     [](Sample& s) { s.give(&Call::bias, DType::uint8, {1, 1, 1, 7}).assign({1, 0, 1, 1, 0, 1, 2}); }},
    {"sink", small, [](Sample& s) { s.give(&Call::sink, fp64, {4}).assign({-infinity, -2, 0, 30}); }},
    {"sink_with_empty_rows", tall,
     [](Sample& s) { s.call.right = 0, s.give(&Call::sink, fp64, {2}).assign({0.5, -1}); }},
    {"dropout", small, [](Sample& s) { s.call.dropout = 0.4f, s.call.seed = 11; }},
    {"one_kv_head", {1, 3, 1, 2, 4, 5, 3, fp64}, [](Sample&) {}},
    {"varlen", small, make_varlen},
    {"seqused", small,
     [](Sample& s) { s.give_int32(&Call::seqused_q, {0, 3}), s.give_int32(&Call::seqused_k, {7, 2}); }},
    {"shared_pages", small, make_paged},
    {"leftpad", small, [](Sample& s) { s.call.left = 2, s.give_int32(&Call::leftpad, {3, 0}); }},
    {"blocks_of_queries_and_keys",
     {1, 1, 1, 67, 131, 1, 1, fp64},
     [](Sample& s) { s.call.left = 70, s.call.right = 30; }},
    {"all_together", small,
     [](Sample& s) {
       make_varlen(s);
       s.call.left = 4, s.call.right = 1, s.call.softcap = 2, s.call.dropout = 0.25f, s.call.seed = 3;
       s.give(&Call::alibi, fp64, {4}).assign({0.1, 0.2, 0.3, 0.4});
       give_bias(s, {1, 4, 5, 7});
       s.give(&Call::sink, fp64, {4}).assign({-1, 0, 1, -infinity});
     }},
};

// sum of out * dout + lse * dlse, the loss whose gradients backward returns.
double loss(Sample& s) {
  s.call.pass = Pass::forward;
  EXPECT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok());
  double sum = 0;
  for (std::int64_t i = 0; i < s[&Call::out].size(); ++i) sum += s[&Call::out].get(i) * s[&Call::dout].get(i);
  for (std::int64_t i = 0; i < s[&Call::lse].size(); ++i)
    if (std::isfinite(s[&Call::lse].get(i))) sum += s[&Call::lse].get(i) * s[&Call::dlse].get(i);
  return sum;
}

void check_gradient(Sample& s, View Call::* argument, View Call::* gradient) {
  constexpr double step = 1e-5;
  Tensor& x = s[argument];
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double at = x.get(i);
    x.set(i, at + step);
    const double above = loss(s);
    x.set(i, at - step);
    const double below = loss(s);
    x.set(i, at);
    const double expected = std::isfinite(at) ? (above - below) / (2 * step) : 0;
    ASSERT_NEAR(s[gradient].get(i), expected, 2e-8 * (1 + std::fabs(expected))) << "element " << i;
  }
}

class Gradient : public testing::TestWithParam<Feature> {};

TEST_P(Gradient, is_the_derivative) {
  Sample s(GetParam().sizes);
  GetParam().add(s);
  s.make_backward();
  ASSERT_TRUE(reference::run(s.problem, s.call, Mode::oracle).ok());
  check_gradient(s, &Call::q, &Call::dq);
  check_gradient(s, &Call::k, &Call::dk);
  check_gradient(s, &Call::v, &Call::dv);
  if (s.call.dbias.given()) check_gradient(s, &Call::bias, &Call::dbias);
  if (s.call.dsink.given()) check_gradient(s, &Call::sink, &Call::dsink);
}

INSTANTIATE_TEST_SUITE_P(of, Gradient, testing::ValuesIn(features),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace fw::test
