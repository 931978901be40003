// Small kernels for the tests: LDS, barriers, atomics, matrix products, private memory, calls, divisions.
#define DEVICE static __attribute__((device)) inline
#define KERNEL(threads) extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads)))
#define SHARED __attribute__((shared))
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));

DEVICE int thread() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// out[group] = sum of a workgroup's 256 numbers; total += all of them.
KERNEL(256) void sum(const float* in, float* out, unsigned* total, int count) {
  SHARED float part[256];
  const int n = group() * 256 + thread();
  part[thread()] = n < count ? in[n] : 0.0f;
  sync();
  for (int step = 128; step > 0; step >>= 1) {
    if (thread() < step) part[thread()] += part[thread() + step];
    sync();
  }
  if (thread() == 0) {
    out[group()] = part[0];
    __atomic_fetch_add(total, (unsigned)part[0], __ATOMIC_RELAXED);
  }
}

// c (16 x 16 a group) = a (rows x depth) times b (columns x depth), both fp16.
KERNEL(64) void product(const _Float16* a, const _Float16* b, float* c, int depth, int columns) {
  const int lane = thread(), row0 = group() * 16, column0 = __builtin_amdgcn_workgroup_id_y() * 16;
  f32x4 sum = 0.0f;
  for (int k = 0; k < depth; k += 16) {
    const f16x4 x = *(const f16x4*)(a + (row0 + lane % 16) * depth + k + lane / 16 * 4);
    const f16x4 y = *(const f16x4*)(b + (column0 + lane % 16) * depth + k + lane / 16 * 4);
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  }
  for (int n = 0; n < 4; ++n) c[(row0 + lane / 16 * 4 + n) * columns + column0 + lane % 16] = sum[n];
}

// Divisions, square roots and an array that is indexed at run time: correctly rounded results, private memory.
KERNEL(64) void divide(const float* a, const float* b, float* out, int pick) {
  float x[40];
#pragma clang loop unroll(disable)
  for (int n = 0; n < 40; ++n) x[n] = a[thread()] + n;
#pragma clang loop unroll(disable)
  for (int n = 1; n < 40; ++n) x[(n * pick) % 40] += x[n - 1];
  out[thread()] = a[thread()] / b[thread()];
  out[64 + thread()] = x[pick % 40];
}

__attribute__((device, noinline)) int twice(int x) { return 2 * x + thread(); }
KERNEL(64) void call(int* out, int x) { out[thread()] = twice(x) + twice(x + 1); }

KERNEL(64) void doubles(const double* a, const double* b, double* out) {
  out[thread()] = a[thread()] / b[thread()] + __builtin_sqrt(a[thread()]);
}

// The grid as hidden arguments and the dispatch packet tell it.
KERNEL(64) void grid(unsigned* out) {
  const unsigned* hidden = (const unsigned*)__builtin_amdgcn_implicitarg_ptr();
  if (thread() == 0 && group() == 0) {
    out[0] = hidden[0];
    out[1] = hidden[1];
    out[2] = hidden[2];
    const unsigned* packet = (const unsigned*)__builtin_amdgcn_dispatch_ptr();
    out[3] = packet[1];  // threads along x
    out[4] = packet[4];  // of the whole grid along y
  }
}
