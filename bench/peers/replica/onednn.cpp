// bf16, forward, over oneDNN.
#include <array>
#include <dnnl.hpp>
#include <map>

#include "forward.hpp"

namespace replica {

namespace {

using dnnl::memory;

// Products of bf16 into fp32, made once for each shape of their operands.
class DnnlProduct {
 public:
  using Element = std::uint16_t;

  void scores(float* s, const Element* q, const Element* k, std::int64_t m, std::int64_t n, std::int64_t d) {
    run({m, n, d, true, false}, q, k, s);
  }
  void values(float* o, const Element* p, const Element* v, std::int64_t m, std::int64_t n, std::int64_t d,
              bool first) {
    run({m, d, n, false, !first}, p, v, o);
  }

 private:
  struct Shape {
    std::int64_t m, n, k;
    bool transposed, sum;  // of the right operand; onto what is there
    auto operator<=>(const Shape&) const = default;
  };
  struct Made {
    memory left, right, to;
    dnnl::matmul product;
  };

  Made make(const Shape& s) const {
    const memory::desc left({s.m, s.k}, memory::data_type::bf16, memory::dims{s.k, 1});
    const memory::desc right({s.k, s.n}, memory::data_type::bf16,
                             s.transposed ? memory::dims{1, s.k} : memory::dims{s.n, 1});
    const memory::desc to({s.m, s.n}, memory::data_type::f32, memory::dims{s.n, 1});
    dnnl::primitive_attr attributes;
    if (s.sum) {
      dnnl::post_ops after;
      after.append_sum(1);
      attributes.set_post_ops(after);
    }
    const dnnl::matmul::primitive_desc description({left, right, to}, attributes, engine_);
    return {memory(left, engine_, nullptr), memory(right, engine_, nullptr), memory(to, engine_, nullptr),
            dnnl::matmul(description)};
  }

  void run(const Shape& shape, const Element* left, const Element* right, float* to) {
    auto found = made_.find(shape);
    if (found == made_.end()) found = made_.emplace(shape, make(shape)).first;
    Made& made = found->second;
    made.left.set_data_handle(const_cast<Element*>(left));
    made.right.set_data_handle(const_cast<Element*>(right));
    made.to.set_data_handle(to);
    made.product.execute(
        stream_, {{DNNL_ARG_SRC, made.left}, {DNNL_ARG_WEIGHTS, made.right}, {DNNL_ARG_DST, made.to}});
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<Shape, Made> made_;
};

}  // namespace

}  // namespace replica

extern "C" void replica_forward_bf16(const ReplicaShape* shape, const std::uint16_t* q,
                                     const std::uint16_t* k, const std::uint16_t* v, std::uint16_t* out,
                                     float* lse) {
  replica::forward<replica::DnnlProduct>(*shape, q, k, v, out, lse);
}
