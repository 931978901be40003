#include "cpu/amx.hpp"

#if defined(FLASHWAVE_CPU_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace fw::cpu {

#if defined(FLASHWAVE_CPU_AMX)
namespace {

constexpr unsigned bit(int n) { return 1u << n; }

// What the system saves of a thread's registers (XCR0); 0 where it does not say.
std::uint64_t saved_registers() {
  unsigned a, b, c = 0, d;
  const bool says = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit(27)) != 0;  // OSXSAVE
  if (!says) return 0;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return std::uint64_t{d} << 32 | a;
}

bool ask_permission() {
  constexpr long ask_for_registers = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, ask_for_registers, tile_data) == 0;
}

}  // namespace

AmxState amx_here() {
  AmxState state;
  unsigned a, b, c, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return state;
  state.tiles = (d & bit(24)) != 0;
  state.bf16 = (d & bit(22)) != 0;
  constexpr std::uint64_t tile_registers = bit(17) | bit(18);  // their configuration, their data
  state.saved = (saved_registers() & tile_registers) == tile_registers;
  state.permitted = state.tiles && state.bf16 && state.saved && ask_permission();
  return state;
}
#else
AmxState amx_here() { return {}; }
#endif

std::string amx_missing(const AmxState& state) {
  if (!state.tiles) return "this processor lacks AMX tiles";
  if (!state.bf16) return "this processor's AMX lacks bf16";
  if (!state.saved) return "the operating system does not save AMX tiles";
  if (!state.permitted) return "the operating system does not permit AMX tiles to this process";
  return {};
}

}  // namespace fw::cpu
