// A C++ program that uses the installed library: two queries, two keys, checked by hand.
#include <cmath>
#include <cstdio>
#include <flashwave/flashwave.hpp>

namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

void check() {
  using namespace flashwave;
  float q[] = {1, 2}, k[] = {1, 3}, v[] = {10, 20}, out[] = {0, 0}, lse[] = {0, 0};
  Attention call{.q = Tensor(q, {1, 2, 1, 1}),
                 .k = Tensor(k, {1, 2, 1, 1}),
                 .v = Tensor(v, {1, 2, 1, 1}),
                 .out = Tensor(out, {1, 2, 1, 1}),
                 .lse = Tensor(lse, {1, 1, 2}),
                 .window = causal};
  call.forward().or_throw();
  expect(out[0] == 10, "row 0");
  expect(std::abs(out[1] - (10 + 10 / (1 + std::exp(2.0 - 6.0)))) < 1e-4, "row 1");
  expect(std::abs(lse[1] - std::log(std::exp(2.0) + std::exp(6.0))) < 1e-4, "lse");

  call.softcap = -1;
  const Status refused = call.forward();
  expect(refused.code() == Code::invalid && !refused.message().empty(), "a negative softcap was not refused");
  try {
    refused.or_throw();
    expect(false, "or_throw did not throw");
  } catch (const Error& error) {
    expect(error.code() == Code::invalid, "the error's code");
  }

  Case line;
  line.parse("fwd sq100 d64 bf16 causal").or_throw();
  flashwave_problem problem;
  line.problem(problem).or_throw();
  supports(problem).or_throw();
  std::string said;
  explain(said, problem).or_throw();
  expect(said.find("causal") != std::string::npos, "explain says what the mask is");
  expect(!devices().empty(), "a device");
}

}  // namespace

int main() {
  try {
    check();
  } catch (const std::exception& error) {
    std::printf("consumer.cpp: %s\n", error.what());
    return 1;
  }
  std::printf("consumer.cpp: flashwave %s works\n", flashwave_version());
}
