#include "instructions/operands.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace cdna {

uint64_t mask_of(const uint32_t (&lane)[kLanes]) {
  uint64_t mask = 0;
#ifdef __AVX2__
  const __m256i zero = _mm256_setzero_si256();
  for (int n = 0; n < 8; ++n) {
    const __m256i x = _mm256_load_si256(reinterpret_cast<const __m256i*>(lane + 8 * n));
    const int clear = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(x, zero)));
    mask |= static_cast<uint64_t>(~clear & 0xff) << (8 * n);
  }
#else
  for (int l = 0; l < kLanes; ++l) mask |= static_cast<uint64_t>(lane[l] != 0) << l;
#endif
  return mask;
}

uint32_t read_special(const Wave& w, Special which) {
  switch (which) {
    case Special::shared_base: return static_cast<uint32_t>(kSharedBase >> 32);
    case Special::shared_limit: return static_cast<uint32_t>((kSharedBase + kApertureBytes - 1) >> 32);
    case Special::private_base: return static_cast<uint32_t>(kPrivateBase >> 32);
    case Special::private_limit: return static_cast<uint32_t>((kPrivateBase + kApertureBytes - 1) >> 32);
    case Special::vccz: return w.vcc() == 0;
    case Special::execz: return w.exec() == 0;
    case Special::scc: return w.scc;
  }
  return 0;
}

bool half_mode_flushes_input(const Wave& w) { return !(w.mode >> 6 & 1); }

void widen_halves(float* out, const uint32_t* row, bool high) {
  const int shift = high ? 16 : 0;
#ifdef __F16C__
  alignas(16) uint16_t bits[kLanes];
  for (int l = 0; l < kLanes; ++l) bits[l] = static_cast<uint16_t>(row[l] >> shift);
  for (int n = 0; n < kLanes; n += 8)
    _mm256_storeu_ps(out + n, _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(bits + n))));
#else
  for (int l = 0; l < kLanes; ++l) out[l] = from_half(static_cast<uint16_t>(row[l] >> shift));
#endif
}

void narrow_halves(uint32_t* out, const float* in) {
#ifdef __F16C__
  alignas(16) uint16_t bits[kLanes];
  for (int n = 0; n < kLanes; n += 8)
    _mm_store_si128(reinterpret_cast<__m128i*>(bits + n),
                    _mm256_cvtps_ph(_mm256_loadu_ps(in + n), _MM_FROUND_CUR_DIRECTION));
  for (int l = 0; l < kLanes; ++l) out[l] = bits[l];
#else
  for (int l = 0; l < kLanes; ++l) out[l] = to_half(in[l]);
#endif
}

namespace {

template <class T>
void modify(T* x, const Instruction& i) {
  constexpr T kFactor[] = {1, 2, 4, static_cast<T>(0.5)};
  const T factor = kFactor[i.modifiers.omod];
  for (int l = 0; l < kLanes; ++l) x[l] *= factor;
  if (!i.has(kClamp)) return;
  for (int l = 0; l < kLanes; ++l) x[l] = x[l] > 0 ? (x[l] < 1 ? x[l] : T{1}) : T{0};  // NaN clamps to 0
}

}  // namespace

void modify_output(float* x, const Instruction& i) { modify(x, i); }
void modify_output(double* x, const Instruction& i) { modify(x, i); }

void write_half_row(Wave& w, const Instruction& i, const uint32_t* value, int n, bool keep) {
  const bool high = i.modifiers.op_sel >> n & 1;
  const uint32_t* old = w.v[i.operand[0].index];
  const bool flush = !(w.mode >> 7 & 1) && i.definition && i.definition->sources[0] == Type::half;
  Row32 out;
  for (int l = 0; l < kLanes; ++l) {
    uint32_t x = value[l] & 0xffff;
    if (flush && (x & 0x7c00) == 0) x &= 0x8000;
    out.x[l] = high ? x << 16 | (old[l] & 0xffff) : x | (keep ? old[l] & 0xffff0000 : 0);
  }
  write_row(w, i.operand[0].index, out.x, w.exec());
}

}  // namespace cdna
