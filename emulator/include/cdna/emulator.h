/* The emulator's own interface, beside the HIP entry points of libcdnahip.so. Plain C; every call is thread
 * safe. */
#ifndef CDNA_EMULATOR_H
#define CDNA_EMULATOR_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CDNA_API
#else
#define CDNA_API __attribute__((visibility("default")))
#endif

/* Which devices there are: "gfx942" or "gfx90a,gfx942:2,gfx950" (architecture, how many). Only before the
 * first hip call; afterwards it must name the same devices. Without it CDNA_EMU_DEVICES counts, else one of
 * each. 0, or 1 with the reason in cdna_emulator_message(). */
CDNA_API int cdna_emulator_devices(const char* devices);

/* One setting of later launches, in all threads:
 *   schedule   N, -N, barrier, -barrier, random:SEED   turns of N instructions; '-': last wave first
 *   async      now, late                 when results of loads arrive: at once, or at the s_waitcnt that
 * covers them groups     forward, backward         which workgroup is first compare    off, on each launch
 * again in other orders; a fault when bits differ checks     none, waits, races, all   each has those before
 * it: results used before their s_waitcnt and barriers that do not match; races in LDS; wait states counters
 * off, on                   LDS clocks and global transactions, too exact      off, on                   MFMA
 * sums as the hardware rounds them poison     a 32-bit number           what registers and LDS hold at first
 *   threads    a number                  host threads of a launch; 0: one a processor
 *   limit      a number                  instructions of a wave, after which it is taken to hang
 * The environment sets the same: CDNA_EMU_SCHEDULE and so on. 0, or 1 with the reason in
 * cdna_emulator_message(). */
CDNA_API int cdna_emulator_set(const char* key, const char* value);

/* What went wrong last in this thread: a kernel's fault, why a module was refused, a bad setting. */
CDNA_API const char* cdna_emulator_message(void);

/* What kernels executed since the last reset, as JSON: an array with an object for each kernel and
 * architecture. Returns the bytes needed with the final zero; writes at most `room` of them. */
CDNA_API size_t cdna_emulator_counters(char* out, size_t room);
CDNA_API void cdna_emulator_reset_counters(void);

#ifdef __cplusplus
}
#endif
#endif
