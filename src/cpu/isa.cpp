#include "cpu/isa.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cpu/amx.hpp"

namespace fw::cpu {
namespace {

// Words of FLASHWAVE_CPU_ISA, the kernels of some of which this build lacks.
constexpr std::array<std::string_view, 7> known_words = {"amx",  "avx512fp16", "avx512bf16",  "avx512",
                                                         "avx2", "portable",   "amx_emulated"};

#if defined(FLASHWAVE_CPU_X86)
std::string lacks(bool supported, const char* feature) {
  return supported ? std::string() : say("this processor lacks ", feature);
}

std::string avx2_missing() {
  return lacks(
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"),
      "AVX2, FMA or F16C");
}

// The set that compilers call x86-64-v4, beyond AVX2.
std::string avx512_missing() {
  if (std::string missing = avx2_missing(); !missing.empty()) return missing;
  return lacks(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl"),
               "AVX-512 F, BW, CD, DQ or VL");
}

std::string avx512bf16_missing() {
  if (std::string missing = avx512_missing(); !missing.empty()) return missing;
  return lacks(__builtin_cpu_supports("avx512bf16"), "AVX-512 BF16");
}
#endif

#if defined(FLASHWAVE_CPU_AVX512FP16)
std::string avx512fp16_missing() {
  if (std::string missing = avx512bf16_missing(); !missing.empty()) return missing;
  return lacks(__builtin_cpu_supports("avx512fp16"), "AVX-512 FP16");
}
#endif

#if defined(FLASHWAVE_CPU_AMX)
std::string tiles_missing() {
  if (std::string missing = avx512fp16_missing(); !missing.empty()) return missing;
  return amx_missing(amx_here());
}
#endif

// Those that only FLASHWAVE_CPU_ISA brings up.
std::vector<Offer> offers_on_request() {
  std::vector<Offer> offers;
#if defined(FLASHWAVE_CPU_TWINS)
  offers.push_back({&isa_amx_emulated, ""});
#endif
  return offers;
}

std::string names(const std::vector<Offer>& offers) {
  std::string list;
  for (const Offer& offer : offers)
    if (offer.missing.empty()) list += (list.empty() ? "" : ", ") + std::string(offer.isa->name);
  return list;
}

}  // namespace

std::vector<Offer> offers_here() {
  std::vector<Offer> offers;
#if defined(FLASHWAVE_CPU_AMX)
  offers.push_back({&isa_amx, tiles_missing()});
#endif
#if defined(FLASHWAVE_CPU_AVX512FP16)
  offers.push_back({&isa_avx512fp16, avx512fp16_missing()});
#endif
#if defined(FLASHWAVE_CPU_X86)
  offers.push_back({&isa_avx512bf16, avx512bf16_missing()});
  offers.push_back({&isa_avx512, avx512_missing()});
  offers.push_back({&isa_avx2, avx2_missing()});
#endif
  offers.push_back({&isa_portable, ""});
  return offers;
}

Status force(std::string_view wanted, std::vector<Offer>& offers) {
  const std::string asked = say("FLASHWAVE_CPU_ISA is \"", wanted, "\"");
  if (std::find(known_words.begin(), known_words.end(), wanted) == known_words.end())
    return unavailable(say(asked, ", which is no instruction set; here there are ", names(offers)));
  const auto is_wanted = [&](const Offer& offer) { return wanted == offer.isa->name; };
  for (const Offer& offer : offers_on_request())
    if (is_wanted(offer)) offers.insert(offers.begin(), offer);
  const auto found = std::find_if(offers.begin(), offers.end(), is_wanted);
  if (found == offers.end())
    return unavailable(say(asked, ", for which this build has no kernels; here there are ", names(offers)));
  if (!found->missing.empty())
    return unavailable(say(asked, ", but ", found->missing, "; here there are ", names(offers)));
  for (Offer& offer : offers)
    if (!is_wanted(offer) && offer.missing.empty()) offer.missing = asked;
  return {};
}

std::vector<Instance> instances_of(const std::vector<Offer>& offers, const Problem& p) {
  std::vector<Instance> instances;
  for (const Offer& offer : offers) {
    const Instance instance{kernels_of(*offer.isa, p.dtype).instance, offer.missing,
                            modelled_seconds(*offer.isa, p)};
    if (instances.empty() || instances.back().name != instance.name)
      instances.push_back(instance);
    else if (instance.missing.empty())
      instances.back().missing.clear();
  }
  return instances;
}

const Isa& isa_of(const Plan& plan, const std::vector<Offer>& offers) {
  for (const Offer& offer : offers) {
    const std::string_view name = kernels_of(*offer.isa, plan.problem.dtype).instance;
    if (offer.missing.empty() && plan.instance.starts_with(name)) return *offer.isa;
  }
  return best_of(offers);
}

const Isa& best_of(const std::vector<Offer>& offers) {
  const auto usable = [](const Offer& offer) { return offer.missing.empty(); };
  // Portable always is, unless another is forced.
  return *std::find_if(offers.begin(), offers.end(), usable)->isa;
}

const Kernels& kernels_of(const Isa& isa, DType dtype) {
  return dtype == DType::fp16 ? *isa.fp16 : dtype == DType::bf16 ? *isa.bf16 : *isa.fp32;
}

double modelled_seconds(const Isa& isa, const Problem& p) {
  constexpr double hertz = 3e9, multiply_adds = 2, reached = 0.6, read_bytes = 10e9;
  const int lanes = kernels_of(isa, p.dtype).lanes;
  const double dot = p.dtype == DType::bf16 && isa.limits.dot != nullptr ? 2 : 1;
  const double rate = reached * hertz * multiply_adds * 2 * lanes * dot;
  // Where lanes are rows, fewer rows than lanes take as long as all of them; plain decode is faster.
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, p.seq_q * p.group()));
  const double idle = std::max(1.0, lanes / rows);
  const auto keys = static_cast<double>(p.batch * p.heads_k) * static_cast<double>(p.seq_k);
  return modelled_flops(p) * idle / rate +
         keys * static_cast<double>(p.dim_qk + p.dim_v) * static_cast<double>(size_of(p.dtype)) / read_bytes;
}

}  // namespace fw::cpu
