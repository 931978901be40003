// The instruction sets this build has, each with its kernels for every element type.
#include "cpu/kernels.hpp"

#define FLASHWAVE_DECLARE(isa, element) \
  namespace fw::isa {                   \
  extern const cpu::Kernels element;    \
  }

FLASHWAVE_DECLARE(portable, kernels_Fp32)
FLASHWAVE_DECLARE(portable, kernels_Fp16)
FLASHWAVE_DECLARE(portable, kernels_Bf16)
#if defined(FLASHWAVE_CPU_X86)
FLASHWAVE_DECLARE(avx2, kernels_Fp32)
FLASHWAVE_DECLARE(avx2, kernels_Fp16)
FLASHWAVE_DECLARE(avx2, kernels_Bf16)
FLASHWAVE_DECLARE(avx512, kernels_Fp32)
FLASHWAVE_DECLARE(avx512, kernels_Fp16)
FLASHWAVE_DECLARE(avx512, kernels_Bf16)
FLASHWAVE_DECLARE(avx512bf16, kernels_Bf16)
#endif
#if defined(FLASHWAVE_CPU_AVX512FP16)
FLASHWAVE_DECLARE(avx512fp16, kernels_Fp16)
#endif
#if defined(FLASHWAVE_CPU_AMX)
FLASHWAVE_DECLARE(amx, kernels_Bf16)
#endif
#if defined(FLASHWAVE_CPU_TWINS)
FLASHWAVE_DECLARE(amx_emulated, kernels_Bf16)
#endif

namespace fw::cpu {
namespace {

template <const Kernels& kernels>
double limit(double seconds) {
  return kernels.limit(seconds);
}

}  // namespace

const Isa isa_portable = {"portable",
                          &portable::kernels_Fp32,
                          &portable::kernels_Fp16,
                          &portable::kernels_Bf16,
                          {limit<portable::kernels_Fp32>, nullptr}};
#if defined(FLASHWAVE_CPU_X86)
const Isa isa_avx2 = {"avx2",
                      &avx2::kernels_Fp32,
                      &avx2::kernels_Fp16,
                      &avx2::kernels_Bf16,
                      {limit<avx2::kernels_Fp32>, nullptr}};
const Isa isa_avx512 = {"avx512",
                        &avx512::kernels_Fp32,
                        &avx512::kernels_Fp16,
                        &avx512::kernels_Bf16,
                        {limit<avx512::kernels_Fp32>, nullptr}};
// From here on each has one type of its own and the others from those before it.
const Isa isa_avx512bf16 = {"avx512bf16",
                            &avx512::kernels_Fp32,
                            &avx512::kernels_Fp16,
                            &avx512bf16::kernels_Bf16,
                            {limit<avx512::kernels_Fp32>, limit<avx512bf16::kernels_Bf16>}};
#endif
#if defined(FLASHWAVE_CPU_AVX512FP16)
const Isa isa_avx512fp16 = {"avx512fp16",
                            &avx512::kernels_Fp32,
                            &avx512fp16::kernels_Fp16,
                            &avx512bf16::kernels_Bf16,
                            {limit<avx512::kernels_Fp32>, limit<avx512bf16::kernels_Bf16>}};
#endif
#if defined(FLASHWAVE_CPU_AMX)
const Isa isa_amx = {"amx",
                     &avx512::kernels_Fp32,
                     &avx512fp16::kernels_Fp16,
                     &amx::kernels_Bf16,
                     {limit<avx512::kernels_Fp32>, limit<amx::kernels_Bf16>}};
#endif
#if defined(FLASHWAVE_CPU_TWINS)
const Isa isa_amx_emulated = {"amx_emulated",
                              &portable::kernels_Fp32,
                              &portable::kernels_Fp16,
                              &amx_emulated::kernels_Bf16,
                              {limit<portable::kernels_Fp32>, limit<amx_emulated::kernels_Bf16>}};
#endif

}  // namespace fw::cpu
