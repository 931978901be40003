#include "machine/group.hpp"

#include "decode/program.hpp"

namespace cdna {

std::string where(const Wave& w) {
  const Listing& l = w.program->listing[w.pc ? w.pc - 1 : 0];
  const auto& id = w.group->id;
  return "kernel " + w.program->kernel.name + ", instruction '" + l.text + "' at " + hex(l.address) +
         ", wave " + std::to_string(w.index) + " of workgroup (" + std::to_string(id[0]) + "," +
         std::to_string(id[1]) + "," + std::to_string(id[2]) + ")";
}

void fault(const Wave& w, const std::string& what) { throw Fault(where(w) + ": " + what); }

}  // namespace cdna
