#include "lab/lab.hpp"

#include <algorithm>
#include <cmath>

#include "support/members.hpp"
#include "support/numbers.hpp"

namespace lab {

namespace {

std::int64_t offset_of(const flashwave_tensor& t, Index index) {
  EXPECT_EQ(static_cast<int>(index.size()), t.rank);
  std::int64_t offset = 0;
  int axis = 0;
  for (const std::int64_t i : index) {
    EXPECT_TRUE(0 <= i && i < t.shape[axis]) << "axis " << axis;
    offset += i * t.stride[axis++];
  }
  return offset;
}

void expect_ok(const tools::Outcome& outcome) { ASSERT_TRUE(outcome.ok()) << outcome.message(); }

}  // namespace

flashwave_tensor Lab::normal(std::string_view name, int dtype, const Shape& shape, Form form) {
  const flashwave_tensor t = arena_.add(dtype, shape, form);
  const tools::Numbers numbers(seed_, name);
  tools::for_each_row(t, [&](std::int64_t row, std::int64_t offset) {
    const std::int64_t columns = t.shape[t.rank - 1];
    for (std::int64_t j = 0; j < columns; ++j)
      tools::store(t.data, dtype, offset + j, numbers.normal(static_cast<std::uint64_t>(row * columns + j)));
  });
  return t;
}

flashwave_tensor Lab::constant(float x, int dtype, const Shape& shape) {
  const flashwave_tensor t = arena_.add(dtype, shape);
  for (std::int64_t i = 0; i < tools::elements(t); ++i) tools::store(t.data, dtype, i, x);
  return t;
}

flashwave_tensor Lab::unwritten(int dtype, const Shape& shape, Form form) {
  return arena_.add(dtype, shape, form);
}

flashwave_tensor Lab::ints(const std::vector<std::int32_t>& numbers) {
  const flashwave_tensor t = arena_.add(FLASHWAVE_INT32, {static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), static_cast<std::int32_t*>(t.data));
  return t;
}

flashwave_tensor Lab::table(const std::vector<std::vector<std::int32_t>>& rows) {
  const auto columns = static_cast<std::int64_t>(rows[0].size());
  const flashwave_tensor t = arena_.add(FLASHWAVE_INT32, {static_cast<std::int64_t>(rows.size()), columns});
  auto* to = static_cast<std::int32_t*>(t.data);
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  return t;
}

flashwave_tensor Lab::copy_of(const flashwave_tensor& t, Form form) {
  const flashwave_tensor copied = arena_.add(t.dtype, tools::shape_of(t), form);
  tools::copy(copied, t);
  return copied;
}

Call Lab::inputs(int dtype, const Sizes& s) {
  Call call = FLASHWAVE_INIT(flashwave_attention);
  Shape q = {s.batch, s.seq_q, s.heads_q, s.dim}, k = {s.batch, s.seq_k, s.heads_k, s.dim};
  if (s.batch == 0) {
    q.erase(q.begin());
    k.erase(k.begin());
  }
  Shape v = k;
  if (s.dim_v > 0) v.back() = s.dim_v;
  call.q = normal("q", dtype, q);
  call.k = normal("k", dtype, k);
  call.v = normal("v", dtype, v);
  return call;
}

Call Lab::forward(Call call, tools::Wants wants) {
  call.pass = FLASHWAVE_FORWARD;
  if (!tools::given(call.out)) {
    tools::add_outputs(call, wants, {}, arena_);
  }
  expect_ok(tools::run_on("cpu", call, tools::Memory::guarded));
  return call;
}

Call Lab::backward(const Call& done, tools::Wants wants) {
  Call call = tools::backward_of(done);
  if (!tools::given(call.dout)) call.dout = normal("dout", call.out.dtype, tools::shape_of(call.out));
  tools::add_outputs(call, wants, {}, arena_);
  expect_ok(tools::run_on("cpu", call, tools::Memory::guarded));
  return call;
}

void set_window(Call& call, int left, int right) {
  call.has_window = 1;
  call.window_left = left;
  call.window_right = right;
}

float value(const flashwave_tensor& t, Index index) {
  return tools::load(t.data, t.dtype, offset_of(t, index));
}

void set(const flashwave_tensor& t, Index index, float x) {
  tools::store(t.data, t.dtype, offset_of(t, index), x);
}

std::vector<float> values(const flashwave_tensor& t) {
  std::vector<float> all;
  tools::for_each_row(t, [&](std::int64_t, std::int64_t offset) {
    for (std::int64_t j = 0; j < t.shape[t.rank - 1]; ++j)
      all.push_back(tools::load(t.data, t.dtype, offset + j));
  });
  return all;
}

std::vector<unsigned char> bits(const flashwave_tensor& t) {
  std::vector<unsigned char> all;
  const auto bytes = static_cast<std::ptrdiff_t>(tools::element_bytes(t.dtype)) * t.shape[t.rank - 1];
  tools::for_each_row(t, [&](std::int64_t, std::int64_t offset) {
    all.insert(all.end(), tools::at(t, offset), tools::at(t, offset) + bytes);
  });
  return all;
}

std::vector<unsigned char> bits(std::initializer_list<flashwave_tensor> tensors) {
  std::vector<unsigned char> all;
  for (const flashwave_tensor& t : tensors) {
    const auto part = bits(t);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

flashwave_tensor at(flashwave_tensor t, int axis, std::int64_t position) {
  t = tools::narrow(t, axis, position, 1);
  for (int i = axis; i + 1 < t.rank; ++i) {
    t.shape[i] = t.shape[i + 1];
    t.stride[i] = t.stride[i + 1];
  }
  --t.rank;
  return t;
}

float largest_difference(const flashwave_tensor& a, const flashwave_tensor& b) {
  const auto x = values(a), y = values(b);
  EXPECT_EQ(x.size(), y.size());
  float largest = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i] == y[i]) continue;
    if (std::isnan(x[i]) || std::isnan(y[i])) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::fabs(x[i] - y[i]));
  }
  return largest;
}

void expect_all(const flashwave_tensor& t, float x) {
  for (const float got : values(t)) ASSERT_EQ(got, x);
}

void expect_near(const flashwave_tensor& a, const flashwave_tensor& b, float bound) {
  EXPECT_LE(largest_difference(a, b), bound);  // false when either is NaN
}

void expect_right(const Call& before, const Call& done) {
  tools::Verdict verdict;
  const tools::Outcome outcome = tools::judge(before, done, {}, verdict);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  for (const std::string& sentence : verdict.faults) ADD_FAILURE() << sentence;
}

void expect_refused(Call call, const std::string& rule, const std::string& word) {
  std::vector<flashwave_tensor> outputs;
  for (const tools::Member& member : tools::members()) {
    const bool written = call.pass == FLASHWAVE_BACKWARD ? member.part == tools::Part::gradient
                                                         : member.part == tools::Part::answer;
    const bool cache = tools::given(call.k_new) && (member.name == "k" || member.name == "v");
    if ((written || cache) && tools::given(call.*member.tensor)) outputs.push_back(call.*member.tensor);
  }
  std::vector<std::vector<unsigned char>> before;
  for (const flashwave_tensor& t : outputs) before.push_back(bits(t));
  EXPECT_NE(flashwave_run(&call), FLASHWAVE_OK) << "nothing was refused; " << rule << " should";
  EXPECT_EQ(flashwave_rule(), rule) << flashwave_message();
  EXPECT_NE(std::string(flashwave_message()).find(word), std::string::npos) << flashwave_message();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(bits(outputs[i]), before[i]) << "a refused call wrote";
}

}  // namespace lab
