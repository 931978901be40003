// Whatever the bytes are: a header that is taken has tensors that lie within the file, one behind the other.
#include "support/safetensors.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  tools::SafetensorsHeader header;
  const tools::Outcome outcome = tools::parse_safetensors({bytes, size}, size, header);
  if (!outcome.ok()) {
    if (outcome.code() != FLASHWAVE_INVALID || outcome.message().empty()) std::abort();
    return 0;
  }
  std::uint64_t end = 0;
  for (const tools::StoredTensor& t : header.tensors) {
    if (t.begin != end || t.end < t.begin || tools::product(t.shape) < 0) std::abort();
    end = t.end;
  }
  if (header.data_begin + end != size) std::abort();
  return 0;
}
