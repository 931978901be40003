// The sums of products as the matrix cores round them: bit for bit on CDNA2 and CDNA3 as published
// measurements have it; CDNA4 is taken to be like CDNA3, which nobody has published.
#pragma once
#include <cstdint>

namespace cdna {

// A number as significand * 2^(exponent - fraction bits); zero has the smallest exponent.
struct Significand {
  int32_t digits;
  int32_t exponent;
};

// What an input format tells of its numbers: bits behind the point, and the exponent of subnormal ones.
struct Precision {
  int fraction;
  int smallest = -126;
};

Significand significand(float x, Precision p);

// CDNA3: the products are cut (toward zero) to 24 bits below the largest exponent and added; the sum is cut
// at 31 and the accumulator at 24 bits below the larger exponent of the two (toward minus infinity), then
// rounded. `even_odd`: products at even and at odd places are first added apart, as fp8 has it.
float fused_dot_add(const float* a, int a_step, const float* b, int b_step, int count, Precision of_a,
                    Precision of_b, float c, bool even_odd);

// CDNA2: neighbours are added pairwise in fp32, then to the accumulator; subnormal numbers are flushed
// everywhere.
float pairwise_dot_add(const float* a, int a_step, const float* b, int b_step, int count, float c);

}  // namespace cdna
