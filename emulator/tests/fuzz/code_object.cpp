// Whatever the bytes are: an error of one sentence, or an object whose kernels lie within its image.
#include "object/code_object.hpp"

#include <cstdlib>

#include "base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace cdna;
  try {
    const auto object = CodeObject::load({bytes, size});
    for (const Kernel& k : object->kernels()) {
      if (k.entry > object->image_bytes() || k.code_bytes > object->image_bytes() - k.entry) std::abort();
      if (object->find(k.name) == nullptr) std::abort();
    }
    for (const Symbol& s : object->symbols())
      if (s.function && s.size &&
          (s.address > object->image_bytes() || s.size > object->image_bytes() - s.address))
        std::abort();
  } catch (const Error& e) {
    if (!*e.what()) std::abort();
  }
  return 0;
}
