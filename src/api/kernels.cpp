// The GPU kernels of this build, as their code objects describe them.
#include "amd/kernels.hpp"

#include "api/failure.hpp"
#include "api/structs.hpp"
#include "base/text.hpp"
#include "flashwave/flashwave.h"
#include "gpu/metadata.hpp"

namespace fw::api {
namespace {

Status kernel_at(std::size_t index, flashwave_kernel* out) {
  const auto all = amd::all_kernels();
  if (index >= all.size()) return invalid(say("kernel index is ", index, ", there are ", all.size()));
  const amd::Kernel& kernel = all[index];
  const auto found = gpu::read_metadata(kernel.code.bytes(), kernel.code.name);
  if (!found) return {Code::internal, say("the code object of ", kernel.code.name, " is damaged")};
  flashwave_kernel made{};
  made.arch = kernel.code.arch;
  made.name = kernel.code.name;
  made.object = kernel.code.begin;
  made.object_bytes = kernel.code.bytes().size();
  made.code_bytes = found->code_bytes;
  made.threads = kernel.threads;
  made.vgprs = found->vgprs;
  made.agprs = found->agprs;
  made.sgprs = found->sgprs;
  made.vgpr_spills = found->vgpr_spills;
  made.sgpr_spills = found->sgpr_spills;
  made.private_bytes = found->private_bytes;
  made.lds_bytes = found->lds_bytes;
  made.kernarg_bytes = found->kernarg_bytes;
  made.occupancy = gpu::occupancy(*found, kernel.code.arch, kernel.threads);
  return write(out, "flashwave_kernel", made);
}

}  // namespace
}  // namespace fw::api

size_t flashwave_kernel_count(void) { return fw::amd::all_kernels().size(); }

int flashwave_kernel_at(size_t index, flashwave_kernel* kernel) {
  return fw::api::guard([&] { return fw::api::kernel_at(index, kernel); });
}
