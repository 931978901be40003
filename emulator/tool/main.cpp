// cdna-emu: lists and runs code objects.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "dispatch/compare.hpp"
#include "tool/arguments.hpp"

namespace cdna {
namespace {

constexpr char kUsage[] =
    "cdna-emu list OBJECT                 its kernels\n"
    "cdna-emu text OBJECT KERNEL          a kernel's machine code as text\n"
    "cdna-emu run OBJECT KERNEL [options] [ARGUMENT...]\n"
    "cdna-emu bench OBJECT KERNEL [options] [ARGUMENT...]   speed of the emulator itself, with and without "
    "checks\n"
    "  --grid X[,Y,Z]      workgroups (1)          --block X[,Y,Z]   threads of one (64)\n"
    "  --lds BYTES         dynamic LDS             --schedule S      N, -N, barrier, -barrier, random:SEED\n"
    "  --late              results at s_waitcnt    --checks C        none, waits, races, all (all)\n"
    "  --exact             MFMA as on hardware     --count           LDS clocks, transactions\n"
    "  --json              counters as JSON        --threads N       host threads\n"
    "  --compare           again in other orders of events: equal bits are expected\n"
    "An argument is a number with its type, or a buffer:\n"
    "  i32:5  u64:7  f32:0.5                      in:FILE    a file's bytes\n"
    "  zero:BYTES  out:BYTES[:FILE]  inout:FILE[:FILE]   buffers, written to FILE afterwards\n"
    "  raw:FILE            the whole block of arguments (addresses are of no use in it)\n";

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Kernel& find_kernel(const CodeObject& object, const std::string& name) {
  if (const Kernel* k = object.find(name)) return *k;
  std::string sentence = "no kernel is named " + name + "; there are:";
  for (const Kernel& k : object.kernels()) sentence += " " + k.name;
  throw Error(sentence);
}

int list(const CodeObject& object) {
  std::printf("%s, code object version %d, %zu kernels\n", generation(object.arch()).name, object.version(),
              object.kernels().size());
  for (const Kernel& k : object.kernels()) {
    const KernelDescriptor& d = k.descriptor;
    std::printf(
        "%s\n  code %llu bytes at %s, arguments %u bytes, LDS %u, private %u, registers %u (AGPRs from %u)\n",
        k.name.c_str(), static_cast<unsigned long long>(k.code_bytes), hex(k.entry).c_str(),
        k.kernarg_bytes(), d.lds_bytes, d.scratch_bytes, d.vgpr_count(), d.accum_offset());
    for (const Argument& a : k.notes.arguments)
      std::printf("    %4u %2u %s %s\n", a.offset, a.size, a.kind.c_str(), a.name.c_str());
  }
  return 0;
}

int text(const Program& p) {
  for (size_t n = 0; n + 1 < p.listing.size(); ++n)
    std::printf("%s: %s\n", hex(p.listing[n].address).c_str(), p.listing[n].text.c_str());
  return 0;
}

// A kernel with its arguments, ready to run again and again.
struct Prepared {
  Prepared(std::shared_ptr<const Program> program, const RunOptions& options) : buffers(memory) {
    launch.program = std::move(program);
    launch.grid = options.grid;
    launch.settings = options.settings;
    launch.memory = &memory;
    const Kernel& k = launch.program->kernel;
    const std::vector<uint8_t> given = buffers.pack(k, options.arguments);
    launch.arguments = kernel_arguments(k, launch.grid, given.data(), given.size());
  }
  MemoryMap memory;
  Buffers buffers;
  Launch launch;
};

int run_kernel(std::shared_ptr<const Program> program, const RunOptions& options) {
  const Prepared p(std::move(program), options);
  const KernelCounts counts = p.launch.settings.compare ? run_compared(p.launch) : run(p.launch);
  p.buffers.write_back();
  std::printf("%s\n", (options.json ? report_json(counts) : report(counts)).c_str());
  return 0;
}

// Millions of wave instructions a second of one core's time: other jobs on the machine do not count.
double speed(const Launch& launch) {
  constexpr double kSeconds = 0.5;
  const std::clock_t begin = std::clock();
  uint64_t instructions = 0;
  double seconds = 0;
  do {
    instructions += totals(run(launch)).instructions;
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  } while (seconds < kSeconds);
  return static_cast<double>(instructions) / seconds / 1e6;
}

int bench(std::shared_ptr<const Program> program, const RunOptions& options) {
  Prepared p(std::move(program), options);
  Settings& s = p.launch.settings;
  s.threads = 1;
  run(p.launch);  // pages and caches
  const auto line = [&](const char* what, Checks checks, bool late, bool count) {
    s.checks = checks;
    s.late = late;
    s.count_memory = count;
    std::printf("%-32s %6.1f M wave instructions / s a core\n", what, speed(p.launch));
  };
  line("fast", Checks::none, false, false);
  line("counters", Checks::none, false, true);
  line("checks waits", Checks::waits, false, false);
  line("checks races", Checks::races, false, false);
  line("checks all", Checks::all, false, false);
  line("checks all, late results", Checks::all, true, false);
  return 0;
}

int main(int count, char** word) {
  const std::vector<std::string> words(word + 1, word + count);
  if (words.size() < 2 || words[0] == "--help") {
    std::fputs(kUsage, words.size() < 2 && (words.empty() || words[0] != "--help") ? stderr : stdout);
    return words.empty() || words[0] != "--help";
  }
  const std::vector<uint8_t> file = read_file(words[1]);
  const std::shared_ptr<CodeObject> object = CodeObject::load(file);
  if (words[0] == "list") return list(*object);
  if (words.size() < 3) throw Error(words[0] + " needs a kernel's name");
  const std::shared_ptr<const Program> program = decode(object, find_kernel(*object, words[2]));
  if (words[0] == "text") return text(*program);
  const RunOptions options = parse_run({words.begin() + 3, words.end()});
  if (words[0] == "run") return run_kernel(program, options);
  if (words[0] == "bench") return bench(program, options);
  throw Error("the verb '" + words[0] + "' is none of list, text, run, bench");
}

}  // namespace
}  // namespace cdna

int main(int count, char** word) {
  try {
    return cdna::main(count, word);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cdna-emu: %s\n", e.what());
    return 1;
  }
}
