// hip* entry points: modules, kernels, occupancy.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "dispatch/compare.hpp"
#include "hip/work.hpp"

using namespace cdna;
using namespace cdna::hip;

namespace {

constexpr int kSimds = 4, kMostWavesPerSimd = 8, kMostGroups = 32;

Code load(Module** out, const uint8_t* image, size_t known_bytes) {
  Runtime& r = Runtime::get();
  const Device* d = r.device(thread_state().device);
  if (!out || !image) return kInvalidValue;
  if (!d) return kInvalidDevice;
  try {
    const size_t bytes = known_bytes ? known_bytes : file_bytes(image, d->arch);
    if (!bytes) return result(kInvalidImage, "the image is no code object, or holds none for this device");
    auto module = std::make_unique<Module>();
    module->object = CodeObject::load({image, bytes});
    if (module->object->arch() != d->arch)
      return result(kNoBinaryForGpu, std::string("the code object is for ") +
                                         generation(module->object->arch()).name + ", the device is a " +
                                         generation(d->arch).name);
    module->device = thread_state().device;
    *out = module.release();
    return kSuccess;
  } catch (const Error& e) {
    return result(kInvalidImage, e.what());
  }
}

// Arguments come as one pointer each, or as a block.
std::vector<uint8_t> given_arguments(const Kernel& k, void** each, void** extra) {
  if (!extra) return pack_arguments(k, each);
  const void* block = nullptr;
  size_t bytes = 0;
  for (int n = 0; n < 8 && extra[n] != kParameterEnd; n += 2) {
    if (extra[n] == kParameterPointer)
      block = extra[n + 1];
    else if (extra[n] == kParameterBytes)
      bytes = *static_cast<const size_t*>(extra[n + 1]);
    else
      throw Error("the launch's extra parameters are malformed");
  }
  if (!block) throw Error("the launch's extra parameters name no block of arguments");
  const auto* first = static_cast<const uint8_t*>(block);
  return {first, first + bytes};
}

Code run_now(const std::shared_ptr<const Program>& program, int device, const Grid& grid,
             const std::vector<uint8_t>& given) {
  Runtime& r = Runtime::get();
  try {
    Launch l;
    l.program = program;
    l.grid = grid;
    l.arguments = kernel_arguments(program->kernel, grid, given.data(), given.size());
    l.settings = r.settings();
    l.memory = &r.device(device)->memory;
    if (l.settings.compare) {
      const std::unique_lock alone(r.use());
      r.count(run_compared(l));
    } else {
      const std::shared_lock use(r.use());
      r.count(cdna::run(l));
    }
    return kSuccess;
  } catch (const Fault& f) {
    const bool address = std::strstr(f.what(), " accesses ") || std::strstr(f.what(), " reads ");
    return result(address ? kIllegalAddress : kLaunchFailure, f.what());
  } catch (const Error& e) {
    return result(kInvalidValue, e.what());
  } catch (const std::exception& e) {
    return result(kUnknown, e.what());
  }
}

int groups_per_unit(const Function& f, int threads, size_t dynamic_lds) {
  const Kernel& k = f.program->kernel;
  const int waves = (threads + kLanes - 1) / kLanes;
  const int by_waves = std::min(waves_per_simd(*f.program), kMostWavesPerSimd) * kSimds / std::max(waves, 1);
  const size_t lds = k.descriptor.lds_bytes + dynamic_lds;
  const int by_lds = lds ? static_cast<int>(generation(f.program->arch).lds_bytes / lds) : kMostGroups;
  return std::min({by_waves, by_lds, kMostGroups});
}

}  // namespace

HIP_ENTRY hipModuleLoadData(Module** out, const void* image) {
  return result(load(out, static_cast<const uint8_t*>(image), 0));
}
HIP_ENTRY hipModuleLoadDataEx(Module** out, const void* image, unsigned, void*, void**) {
  return hipModuleLoadData(out, image);
}
HIP_ENTRY hipModuleLoad(Module** out, const char* path) {
  if (!path) return result(kInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return result(kFileNotFound);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return result(load(out, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}
HIP_ENTRY hipModuleUnload(Module* m) {
  delete m;
  return m ? kSuccess : result(kInvalidHandle);
}

HIP_ENTRY hipModuleGetFunction(Function** out, Module* m, const char* name) {
  if (!out || !m || !name) return result(kInvalidValue);
  const std::lock_guard lock(m->mutex);
  std::unique_ptr<Function>& slot = m->functions[name];
  if (!slot) {
    const Kernel* k = m->object->find(name);
    if (!k) {
      m->functions.erase(name);
      return result(kNotFound, std::string("the module has no kernel named ") + name);
    }
    try {
      slot = std::make_unique<Function>(Function{m, decode(m->object, *k)});
    } catch (const Error& e) {
      m->functions.erase(name);
      return result(kInvalidImage, e.what());
    }
  }
  *out = slot.get();
  return kSuccess;
}

HIP_ENTRY hipModuleGetGlobal(void** address, size_t* bytes, Module* m, const char* name) {
  if (!m || !name) return result(kInvalidValue);
  const Symbol* s = m->object->find_symbol(name);
  if (!s || s->function) return result(kNotFound);
  if (address) *address = m->object->image() + s->address;
  if (bytes) *bytes = s->size;
  return kSuccess;
}

HIP_ENTRY hipModuleLaunchKernel(Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                unsigned bz, unsigned dynamic_lds, Stream* s, void** each, void** extra) {
  if (!f) return result(kInvalidHandle);
  if (!gx || !gy || !gz || !bx || !by || !bz) return result(kInvalidConfiguration);
  const Grid grid{{gx, gy, gz}, {bx, by, bz}, dynamic_lds};
  const Kernel& k = f->program->kernel;
  const uint64_t threads = uint64_t{bx} * by * bz;
  const uint64_t most = k.notes.max_workgroup > 0 ? static_cast<uint64_t>(k.notes.max_workgroup) : 1024;
  if (threads > most) return result(kInvalidConfiguration);
  if (uint64_t{k.descriptor.lds_bytes} + dynamic_lds > generation(f->program->arch).lds_bytes)
    return result(kInvalidValue);
  try {
    const std::vector<uint8_t> given = given_arguments(k, each, extra);
    const auto program = f->program;
    const int device = f->module->device;
    return result(submit(s, [=] { return run_now(program, device, grid, given); }));
  } catch (const Error& e) {
    return result(kInvalidValue, e.what());
  }
}

HIP_ENTRY hipFuncGetAttribute(int* value, int which, Function* f) {
  if (!value || !f) return result(kInvalidValue);
  const Kernel& k = f->program->kernel;
  switch (which) {
    case kMostThreads:
      *value = k.notes.max_workgroup > 0 ? static_cast<int>(k.notes.max_workgroup) : 1024;
      break;
    case kSharedBytes: *value = static_cast<int>(k.descriptor.lds_bytes); break;
    case kLocalBytes: *value = static_cast<int>(k.descriptor.scratch_bytes); break;
    case kRegisterCount:
      *value = static_cast<int>(k.notes.vgprs >= 0 ? k.notes.vgprs : k.descriptor.vgpr_count());
      break;
    case kMostDynamicShared:
      *value = static_cast<int>(generation(f->program->arch).lds_bytes - k.descriptor.lds_bytes);
      break;
    case kConstantBytes:
    case kPtx:
    case kBinary:
    case kCacheMode:
    case kSharedCarveout: *value = 0; break;
    default: return result(kInvalidValue);
  }
  return kSuccess;
}
HIP_ENTRY hipFuncSetAttribute(const void*, int, int) { return kSuccess; }

HIP_ENTRY hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* out, Function* f, int threads, size_t lds) {
  if (!out || !f || threads <= 0) return result(kInvalidValue);
  *out = groups_per_unit(*f, threads, lds);
  return kSuccess;
}
HIP_ENTRY hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, Function* f, int threads,
                                                                      size_t lds, unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, lds);
}
HIP_ENTRY hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* f, size_t lds, int limit) {
  if (!grid || !block || !f) return result(kInvalidValue);
  int most = 1024;
  hipFuncGetAttribute(&most, kMostThreads, f);
  *block = limit > 0 ? std::min(limit, most) : most;
  *grid = groups_per_unit(*f, *block, lds) * generation(f->program->arch).compute_units;
  return kSuccess;
}
