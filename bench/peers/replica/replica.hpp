// The rival rebuilt: how PyTorch computes attention on a CPU (cpu_flash_attention in ATen's
// FlashAttentionKernel.cpp), its block sizes and its passes, over matrix products of OpenBLAS and oneDNN. So
// the algorithm is seen without PyTorch's own build of such products, and without its dispatch.
#pragma once

#include <cstdint>

// Tensors are contiguous, (batch, heads, queries or keys, dim); causal is top-left. lse is (batch, heads,
// queries).
struct ReplicaShape {
  std::int64_t batch, heads, queries, keys, dim;
  std::int32_t causal, threads;
};

extern "C" {
void replica_forward_fp32(const ReplicaShape* shape, const float* q, const float* k, const float* v,
                          float* out, float* lse);
void replica_backward_fp32(const ReplicaShape* shape, const float* q, const float* k, const float* v,
                           const float* out, const float* lse, const float* dout, float* dq, float* dk,
                           float* dv);
// Elements are the bits of bf16.
void replica_forward_bf16(const ReplicaShape* shape, const std::uint16_t* q, const std::uint16_t* k,
                          const std::uint16_t* v, std::uint16_t* out, float* lse);
}
