// hip* entry points: memory.
#include <cstring>

#include "hip/work.hpp"

using namespace cdna;
using namespace cdna::hip;

namespace {

Code allocate_now(void** out, size_t bytes, bool host) {
  Runtime& r = Runtime::get();
  if (const Code e = r.refuse_in_capture()) return e;
  return r.allocate(out, bytes, host);
}

Code copy(void* to, const void* from, size_t bytes) {
  Runtime& r = Runtime::get();
  if (bytes && (!to || !from)) return kInvalidValue;
  if (!r.fits(to, bytes) || !r.fits(from, bytes)) return kInvalidValue;
  const std::shared_lock use(r.use());
  if (bytes) std::memmove(to, from, bytes);
  return kSuccess;
}

template <class T>
Code fill(void* to, T value, size_t count) {
  if (count && !to) return kInvalidValue;
  if (!Runtime::get().fits(to, count * sizeof(T))) return kInvalidValue;
  const std::shared_lock use(Runtime::get().use());
  T* out = static_cast<T*>(to);
  for (size_t n = 0; n < count; ++n) out[n] = value;
  return kSuccess;
}

Code copy_now(void* to, const void* from, size_t bytes) {
  if (const Code e = Runtime::get().refuse_in_capture()) return e;
  return copy(to, from, bytes);
}

Code copy_on(Stream* s, void* to, const void* from, size_t bytes) {
  return submit(s, [=] { return copy(to, from, bytes); });
}

template <class T>
Code fill_now(void* to, T value, size_t count) {
  if (const Code e = Runtime::get().refuse_in_capture()) return e;
  return fill(to, value, count);
}
template <class T>
Code fill_on(Stream* s, void* to, T value, size_t count) {
  return submit(s, [=] { return fill(to, value, count); });
}

int pool;  // its address is the only memory pool's handle

}  // namespace

HIP_ENTRY hipMalloc(void** out, size_t bytes) { return result(allocate_now(out, bytes, false)); }
HIP_ENTRY hipHostMalloc(void** out, size_t bytes, unsigned) { return result(allocate_now(out, bytes, true)); }
HIP_ENTRY hipHostAlloc(void** out, size_t bytes, unsigned) { return result(allocate_now(out, bytes, true)); }
HIP_ENTRY hipMallocManaged(void** out, size_t bytes, unsigned) {
  return result(allocate_now(out, bytes, true));
}

HIP_ENTRY hipFree(void* p) {
  if (const Code e = Runtime::get().refuse_in_capture()) return result(e);
  return result(Runtime::get().release(p));
}
HIP_ENTRY hipHostFree(void* p) { return hipFree(p); }

// Allocation inside a capture is refused too: a graph that allocates is not simulated.
HIP_ENTRY hipMallocAsync(void** out, size_t bytes, Stream* s) {
  if (const Code e = check_stream(s)) return result(e);
  return result(allocate_now(out, bytes, false));
}
HIP_ENTRY hipMallocFromPoolAsync(void** out, size_t bytes, void*, Stream* s) {
  return hipMallocAsync(out, bytes, s);
}
HIP_ENTRY hipFreeAsync(void* p, Stream* s) {
  if (const Code e = check_stream(s)) return result(e);
  return hipFree(p);
}

HIP_ENTRY hipDeviceGetDefaultMemPool(void** out, int device) {
  if (!out || !Runtime::get().device(device)) return result(kInvalidValue);
  *out = &pool;
  return kSuccess;
}
HIP_ENTRY hipDeviceGetMemPool(void** out, int device) { return hipDeviceGetDefaultMemPool(out, device); }
HIP_ENTRY hipMemPoolSetAttribute(void* p, int, void* value) {
  return result(p && value ? kSuccess : kInvalidValue);
}
HIP_ENTRY hipMemPoolGetAttribute(void* p, int, void* value) {
  if (!p || !value) return result(kInvalidValue);
  *static_cast<uint64_t*>(value) = 0;
  return kSuccess;
}
HIP_ENTRY hipMemPoolTrimTo(void* p, size_t) { return result(p ? kSuccess : kInvalidValue); }
HIP_ENTRY hipMemPoolCreate(void** out, const void*) {
  if (!out) return result(kInvalidValue);
  *out = &pool;
  return kSuccess;
}
HIP_ENTRY hipMemPoolDestroy(void* p) { return result(p ? kSuccess : kInvalidValue); }

HIP_ENTRY hipMemGetInfo(size_t* free_bytes, size_t* total) {
  const Device* d = Runtime::get().device(thread_state().device);
  if (!free_bytes || !total || !d) return result(kInvalidValue);
  *free_bytes = *total = generation(d->arch).memory_bytes;
  return kSuccess;
}

HIP_ENTRY hipMemcpy(void* to, const void* from, size_t bytes, int) {
  return result(copy_now(to, from, bytes));
}
HIP_ENTRY hipMemcpyHtoD(void* to, void* from, size_t bytes) { return result(copy_now(to, from, bytes)); }
HIP_ENTRY hipMemcpyDtoH(void* to, void* from, size_t bytes) { return result(copy_now(to, from, bytes)); }
HIP_ENTRY hipMemcpyDtoD(void* to, void* from, size_t bytes) { return result(copy_now(to, from, bytes)); }
HIP_ENTRY hipMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return result(copy_now(to, from, bytes));
}
HIP_ENTRY hipMemcpyWithStream(void* to, const void* from, size_t bytes, int, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}
HIP_ENTRY hipMemcpyAsync(void* to, const void* from, size_t bytes, int, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}
HIP_ENTRY hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}
HIP_ENTRY hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}
HIP_ENTRY hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}
HIP_ENTRY hipMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, Stream* s) {
  return result(copy_on(s, to, from, bytes));
}

HIP_ENTRY hipMemset(void* to, int value, size_t bytes) {
  return result(fill_now(to, static_cast<uint8_t>(value), bytes));
}
HIP_ENTRY hipMemsetAsync(void* to, int value, size_t bytes, Stream* s) {
  return result(fill_on(s, to, static_cast<uint8_t>(value), bytes));
}
HIP_ENTRY hipMemsetD8(void* to, unsigned char value, size_t count) {
  return result(fill_now(to, value, count));
}
HIP_ENTRY hipMemsetD16(void* to, unsigned short value, size_t count) {
  return result(fill_now(to, value, count));
}
HIP_ENTRY hipMemsetD32(void* to, int value, size_t count) { return result(fill_now(to, value, count)); }
HIP_ENTRY hipMemsetD8Async(void* to, unsigned char value, size_t count, Stream* s) {
  return result(fill_on(s, to, value, count));
}
HIP_ENTRY hipMemsetD16Async(void* to, unsigned short value, size_t count, Stream* s) {
  return result(fill_on(s, to, value, count));
}
HIP_ENTRY hipMemsetD32Async(void* to, int value, size_t count, Stream* s) {
  return result(fill_on(s, to, value, count));
}

HIP_ENTRY hipPointerGetAttributes(PointerAttributes* out, const void* p) {
  if (!out || !p) return result(kInvalidValue);
  const Allocation a = Runtime::get().find(p);
  std::memset(out, 0, sizeof *out);
  if (!a.bytes) {
    out->type = kUnregistered;
    out->device = -2;
    return kSuccess;
  }
  out->type = a.host ? kHost : kDevice;
  out->device = a.device;
  out->device_pointer = const_cast<void*>(p);
  out->host_pointer = a.host ? const_cast<void*>(p) : nullptr;
  return kSuccess;
}

HIP_ENTRY hipMemGetAddressRange(void** base, size_t* bytes, void* p) {
  const Allocation a = Runtime::get().find(p);
  if (!a.bytes) return result(kNotFound);
  if (base) *base = a.base;
  if (bytes) *bytes = a.bytes;
  return kSuccess;
}

HIP_ENTRY hipHostRegister(void* p, size_t bytes, unsigned) { return result(Runtime::get().lend(p, bytes)); }
HIP_ENTRY hipHostUnregister(void* p) { return result(Runtime::get().take_back(p)); }

HIP_ENTRY hipHostGetDevicePointer(void** device, void* host, unsigned) {
  if (!device || !Runtime::get().find(host).host) return result(kInvalidValue);
  *device = host;
  return kSuccess;
}
