// Tensors that own their elements, and a call over small random ones, for tests of any floor.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/convert.hpp"
#include "problem/call.hpp"

namespace fw::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Contiguous; filled with NaN (integers: all bits set), so that an element nobody wrote shows.
class Tensor {
 public:
  View view;

  Tensor(DType dtype, const std::vector<std::int64_t>& shape) {
    view.dtype = dtype;
    view.rank = static_cast<int>(shape.size());
    std::int64_t stride = 1;
    for (int d = view.rank - 1; d >= 0; --d) {
      view.shape[d] = shape[d];
      view.stride[d] = stride;
      stride *= shape[d];
    }
    bytes_.assign(static_cast<std::size_t>(size()) * size_of(dtype) + 1, std::byte{0xff});
    view.data = bytes_.data();
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  std::int64_t size() const { return view.elements(); }

  double get(std::int64_t i) const {
    switch (view.dtype) {
      case DType::fp64: return static_cast<const double*>(view.data)[i];
      case DType::int32: return static_cast<const std::int32_t*>(view.data)[i];
      case DType::uint8: return static_cast<const std::uint8_t*>(view.data)[i];
      default: return load_float(view.data, view.dtype, i);
    }
  }
  void set(std::int64_t i, double value) {
    switch (view.dtype) {
      case DType::fp64: static_cast<double*>(view.data)[i] = value; return;
      case DType::int32: static_cast<std::int32_t*>(view.data)[i] = static_cast<std::int32_t>(value); return;
      case DType::uint8: static_cast<std::uint8_t*>(view.data)[i] = static_cast<std::uint8_t>(value); return;
      default: store_float(view.data, view.dtype, i, static_cast<float>(value));
    }
  }

  std::vector<double> values() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < size(); ++i) all.push_back(get(i));
    return all;
  }
  Tensor& assign(const std::vector<double>& values) {
    for (std::int64_t i = 0; i < size(); ++i) set(i, values.at(static_cast<std::size_t>(i)));
    return *this;
  }
  Tensor& fill(double value) {
    for (std::int64_t i = 0; i < size(); ++i) set(i, value);
    return *this;
  }
  // Sums of four uniform numbers, of mean 0 and variance 1; equal seeds give equal values.
  Tensor& randomize(std::uint64_t seed, double size_of_one = 1) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (std::int64_t i = 0; i < size(); ++i) {
      double sum = 0;
      for (int draw = 0; draw < 4; ++draw) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += static_cast<double>(state >> 40) * 0x1p-24 - 0.5;
      }
      set(i, sum * std::sqrt(3.0) * size_of_one);
    }
    return *this;
  }
  bool same_bits(const Tensor& other) const { return bytes_ == other.bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct Sizes {
  std::int64_t batch = 1, heads_q = 1, heads_k = 1, seq_q = 1, seq_k = 1, dim_qk = 8, dim_v = 8;
  DType dtype = DType::fp32;
};

// A Problem and a Call with q, k, v, out and lse; whatever else a test wants it gives.
class Sample {
 public:
  Problem problem;
  Call call;
  DType lse_dtype = DType::fp32;

  explicit Sample(const Sizes& s) {
    problem.dtype = s.dtype;
    problem.batch = s.batch;
    problem.heads_q = s.heads_q;
    problem.heads_k = s.heads_k;
    problem.seq_q = s.seq_q;
    problem.seq_k = s.seq_k;
    problem.dim_qk = s.dim_qk;
    problem.dim_v = s.dim_v;
    if (s.dtype == DType::fp64) lse_dtype = DType::fp64;
    give(&Call::q, s.dtype, {s.batch, s.seq_q, s.heads_q, s.dim_qk}).randomize(1);
    give(&Call::k, s.dtype, {s.batch, s.seq_k, s.heads_k, s.dim_qk}).randomize(2);
    give(&Call::v, s.dtype, {s.batch, s.seq_k, s.heads_k, s.dim_v}).randomize(3);
    give(&Call::out, s.dtype, {s.batch, s.seq_q, s.heads_q, s.dim_v});
    give(&Call::lse, lse_dtype, {s.batch, s.heads_q, s.seq_q});
  }

  // A new tensor for this argument; an earlier one is gone.
  Tensor& give(View Call::* argument, DType dtype, const std::vector<std::int64_t>& shape) {
    std::erase_if(tensors_, [&](const auto& held) { return held.first == argument; });
    tensors_.emplace_back(argument, std::make_unique<Tensor>(dtype, shape));
    call.*argument = tensors_.back().second->view;
    return *tensors_.back().second;
  }
  Tensor& give_int32(View Call::* argument, const std::vector<double>& values) {
    return give(argument, DType::int32, {static_cast<std::int64_t>(values.size())}).assign(values);
  }
  Tensor& give_like(View Call::* argument, View Call::* model) {
    const View& view = call.*model;
    return give(argument, view.dtype, {view.shape.begin(), view.shape.begin() + view.rank});
  }
  // Turns the sample to backward: dout and dlse come in, all gradients the forward arguments have go out.
  void make_backward() {
    call.pass = Pass::backward;
    problem.pass = Pass::backward;
    give_like(&Call::dout, &Call::out).randomize(4);
    give_like(&Call::dlse, &Call::lse).randomize(5);
    give_like(&Call::dq, &Call::q);
    give_like(&Call::dk, &Call::k);
    give_like(&Call::dv, &Call::v);
    if (call.bias.given() && call.bias.dtype != DType::uint8) give_like(&Call::dbias, &Call::bias);
    if (call.sink.given()) give_like(&Call::dsink, &Call::sink);
  }

  Tensor& operator[](View Call::* argument) {
    for (auto& [held, tensor] : tensors_)
      if (held == argument) return *tensor;
    std::abort();
  }

 private:
  std::vector<std::pair<View Call::*, std::unique_ptr<Tensor>>> tensors_;
};

}  // namespace fw::test
