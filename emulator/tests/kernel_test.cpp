// Compiled kernels on the three generations, under schedules, late results and all checks.
#include <gtest/gtest.h>

#include <cmath>

#include "decode/program.hpp"
#include "dispatch/launch.hpp"
#include "objects.hpp"

namespace cdna::test {
namespace {

struct Mode {
  const char* schedule;
  bool late, backward;
};
constexpr Mode kModes[] = {{"16", false, false},     {"1", true, true},         {"-7", true, false},
                           {"barrier", false, true}, {"-barrier", true, false}, {"random:9", true, true}};

class Kernels : public testing::TestWithParam<Arch> {
 protected:
  template <class T>
  void lend(std::vector<T>& v) {
    memory_.add(reinterpret_cast<uint64_t>(v.data()), v.size() * sizeof(T), "test");
  }

  void run(const char* name, std::array<uint32_t, 3> groups, uint32_t threads,
           const std::vector<uint8_t>& given, const Mode& mode) {
    const auto object = CodeObject::load(object_file(GetParam()));
    const Kernel* k = object->find(name);
    ASSERT_NE(k, nullptr);
    Launch l;
    l.program = decode(object, *k);
    l.grid = {groups, {threads, 1, 1}, 0};
    l.arguments = kernel_arguments(*k, l.grid, given.data(), given.size());
    l.settings.schedule = Schedule::parse(mode.schedule);
    l.settings.late = mode.late;
    l.settings.groups_backward = mode.backward;
    l.settings.checks = Checks::all;
    l.memory = &memory_;
    ASSERT_NO_THROW(cdna::run(l)) << name << " " << mode.schedule;
  }

  MemoryMap memory_;
};

template <class... T>
std::vector<uint8_t> block(T... values) {
  std::vector<uint8_t> out;
  const auto add = [&out](auto x) {
    while (out.size() % sizeof x) out.push_back(0);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&x);
    out.insert(out.end(), bytes, bytes + sizeof x);
  };
  (add(values), ...);
  return out;
}

TEST_P(Kernels, SumThroughLdsAndAtomics) {
  constexpr int kCount = 1000;
  std::vector<float> in(kCount);
  for (int n = 0; n < kCount; ++n) in[n] = static_cast<float>(n % 17);
  lend(in);
  for (const Mode& mode : kModes) {
    std::vector<float> out(4, NAN);
    std::vector<unsigned> total(1, 0);
    lend(out);
    lend(total);
    run("sum", {4, 1, 1}, 256, block(in.data(), out.data(), total.data(), kCount), mode);
    float all = 0;
    for (int g = 0; g < 4; ++g) {
      float want = 0;
      for (int n = 256 * g; n < std::min(256 * (g + 1), kCount); ++n) want += in[n];
      EXPECT_EQ(out[g], want) << mode.schedule;
      all += want;
    }
    EXPECT_EQ(total[0], static_cast<unsigned>(all));
  }
}

TEST_P(Kernels, MultiplyMatrices) {
  constexpr int kRows = 32, kColumns = 48, kDepth = 64;
  std::vector<_Float16> a(kRows * kDepth), b(kColumns * kDepth);
  for (size_t n = 0; n < a.size(); ++n) a[n] = static_cast<_Float16>(static_cast<int>(n * 7 % 11) - 5);
  for (size_t n = 0; n < b.size(); ++n) b[n] = static_cast<_Float16>(static_cast<int>(n * 5 % 13) - 6);
  lend(a);
  lend(b);
  for (const Mode& mode : kModes) {
    std::vector<float> c(kRows * kColumns, NAN);
    lend(c);
    run("product", {kRows / 16, kColumns / 16, 1}, 64, block(a.data(), b.data(), c.data(), kDepth, kColumns),
        mode);
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
        float want = 0;
        for (int k = 0; k < kDepth; ++k)
          want += static_cast<float>(a[i * kDepth + k]) * static_cast<float>(b[j * kDepth + k]);
        ASSERT_EQ(c[i * kColumns + j], want) << mode.schedule << " " << i << " " << j;
      }
  }
}

TEST_P(Kernels, DivideWithOneRounding) {
  const float edges[] = {1,      3,  0.1f, 1e-40f,          1e38f,    3.4e38f,
                         1e-38f, -7, 0,    1.17549435e-38f, INFINITY, 5e-45f};
  std::vector<float> a(64), b(64), out(128, NAN);
  for (int n = 0; n < 64; ++n) a[n] = edges[n % 12], b[n] = edges[(n * 5 + n / 12) % 12];
  lend(a);
  lend(b);
  lend(out);
  const int pick = 13;
  run("divide", {1, 1, 1}, 64, block(a.data(), b.data(), out.data(), pick), kModes[1]);
  for (int n = 0; n < 64; ++n) {
    const float want = a[n] / b[n];
    EXPECT_TRUE(out[n] == want || (std::isnan(out[n]) && std::isnan(want)))
        << a[n] << " / " << b[n] << " = " << out[n];
    float x[40];
    for (int k = 0; k < 40; ++k) x[k] = a[n] + static_cast<float>(k);
    for (int k = 1; k < 40; ++k) x[(k * pick) % 40] += x[k - 1];
    EXPECT_TRUE(out[64 + n] == x[pick % 40] || std::isnan(x[pick % 40])) << n;
  }
}

TEST_P(Kernels, DivideDoubles) {
  std::vector<double> a(64), b(64), out(64);
  for (int n = 0; n < 64; ++n) a[n] = 1.0 / (n + 1) * std::pow(10.0, 9 * n - 280), b[n] = 3.7 * n + 0.1;
  lend(a);
  lend(b);
  lend(out);
  run("doubles", {1, 1, 1}, 64, block(a.data(), b.data(), out.data()), kModes[0]);
  for (int n = 0; n < 64; ++n) EXPECT_EQ(out[n], a[n] / b[n] + std::sqrt(a[n])) << n;
}

TEST_P(Kernels, CallFunctions) {
  std::vector<int> out(64, -1);
  lend(out);
  run("call", {1, 1, 1}, 64, block(out.data(), 20), kModes[0]);
  for (int n = 0; n < 64; ++n) EXPECT_EQ(out[n], 2 * 20 + 2 * 21 + 2 * n);
}

TEST_P(Kernels, SeeTheGrid) {
  std::vector<unsigned> out(5);
  lend(out);
  run("grid", {5, 3, 2}, 64, block(out.data()), kModes[0]);
  EXPECT_EQ(out, (std::vector<unsigned>{5, 3, 2, 64 | 1 << 16, 3}));
}

INSTANTIATE_TEST_SUITE_P(Each, Kernels, testing::ValuesIn({Arch::gfx90a, Arch::gfx942, Arch::gfx950}),
                         [](const auto& p) { return generation(p.param).name; });

}  // namespace
}  // namespace cdna::test
