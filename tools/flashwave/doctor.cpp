// flashwave doctor: for the owner of a GPU. Finds the runtime and the devices, says what to do about what is
// missing, computes a few problems and writes it all into a report to post.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/check.hpp"
#include "support/console.hpp"
#include "verbs.hpp"

namespace tools {

namespace {

struct Options {
  std::vector<std::string> devices;
  std::string report = "flashwave-report.txt";
};

// One of each kind of kernel and loader, each a moment's work even for an emulator.
constexpr const char* smoke_lines[] = {
    "fwd b1 hq2 sq64 d64 fp32 want=lse",
    "fwd b1 hq2 sq100 sk130 d128 bf16 causal want=lse",
    "fwd b2 hq4 hkv2 sq70 sk90 d64 fp16 window=30,5 sink want=lse",
    "fwd b1 hq2 sq33 sk65 d72 dv40 bf16 causal",
    "fwd b1 hq4 hkv2 sq40 sk50 d96 bf16 softcap=20 alibi bias=bhqk",
    "fwd b1 hq2 sq40 sk70 d64 fp16 dropout=0.2 want=mask",
    "fwd b3 hq2 sq50 d64 bf16 varlen lens=random causal want=lse",
    "fwd b2 hq8 hkv2 sq1 sk300 d128 bf16 cache splits=3",
    "fwd b2 hq4 hkv2 sq3 sk90 d64 fp16 cache paged=16 append=3 rotary=32 causal",
    "fwd b1 hq1 sq20 sk40 d192 dv128 bf16 causal",
    "fwd b1 hq1 sq20 sk40 d256 fp16",
    "fwd b1 hq16 hkv1 sq1 sk100 d576 dv512 bf16 cache",
};

// Says each line here and in the report.
class Report {
 public:
  template <class... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    const std::string text = fmt::format(format, std::forward<Parts>(parts)...);
    fmt::print("{}\n", text);
    text_ += text + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void look_at_machine(Report& report) {
  utsname system{};
  uname(&system);
  report.line("flashwave {} on {} {} {}", flashwave_version(), system.sysname, system.release,
              system.machine);
  const std::string rocm = first_line("/opt/rocm/.info/version");
  report.line("ROCm: {}", rocm.empty() ? "no /opt/rocm/.info/version" : rocm);
  for (const char* variable : {"FLASHWAVE_HIP_LIBRARY", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                               "HSA_OVERRIDE_GFX_VERSION", "FLASHWAVE_VALIDATE"})
    if (const char* value = std::getenv(variable)) report.line("{}={}", variable, value);
  const char* const kfd = "/dev/kfd";
  if (access(kfd, F_OK) != 0)
    report.line(
        "{}: not there; the kernel driver amdgpu is not loaded, or a container was not given the device",
        kfd);
  else if (access(kfd, R_OK | W_OK) != 0)
    report.line("{}: not yours to open; join the groups render and video", kfd);
  else
    report.line("{}: yours to open", kfd);
  std::error_code ignored;
  for (const auto& node : std::filesystem::directory_iterator("/dev/dri", ignored))
    if (node.path().filename().string().starts_with("renderD"))
      report.line("{}: {}", node.path().string(),
                  access(node.path().c_str(), R_OK | W_OK) == 0 ? "yours to open" : "not yours to open");
}

void look_at_kernels(Report& report) {
  std::set<std::string> archs;
  for (std::size_t i = 0; i < flashwave_kernel_count(); ++i) {
    flashwave_kernel kernel = FLASHWAVE_INIT(flashwave_kernel);
    if (flashwave_kernel_at(i, &kernel) == FLASHWAVE_OK) archs.insert(kernel.arch);
  }
  if (archs.empty())
    report.line("kernels: none in this build; `make build` with clang and lld 19 or later makes them");
  else
    report.line("kernels: {} for {}", flashwave_kernel_count(), fmt::join(archs, ", "));
}

// Usable devices that were asked for, or every GPU.
std::vector<std::string> look_at_devices(const Options& o, Report& report) {
  std::vector<std::string> usable;
  for (std::size_t i = 0; i < flashwave_device_count(); ++i) {
    flashwave_device device = FLASHWAVE_INIT(flashwave_device);
    if (flashwave_device_at(i, &device) != FLASHWAVE_OK || !device.listed) continue;
    const std::string name = device.name;
    const bool missing = device.missing[0] != '\0';
    report.line("{}: {}{}", name, missing ? "missing: " : "", missing ? device.missing : device.description);
    const bool asked = o.devices.empty()
                           ? name.starts_with("hip:")
                           : std::find(o.devices.begin(), o.devices.end(), name) != o.devices.end();
    if (asked && !missing) usable.push_back(name);
  }
  return usable;
}

// How many of the problems were right.
int smoke(const std::string& device, Report& report) {
  int right = 0;
  for (const char* line : smoke_lines) {
    Case c;
    Verdict verdict;
    CheckOptions options;
    options.device = device;
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = parse_case(line, c);
    if (outcome.ok()) outcome = check_case(c, options, verdict);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool passed = outcome.ok() && verdict.passed();
    right += passed;
    report.line("  {} {:>8}  {}", passed ? "right" : "WRONG", readable_seconds(seconds), line);
    for (const std::string& fault : verdict.faults) report.line("         {}", fault);
    if (!outcome.ok()) report.line("         {}", outcome.message());
  }
  return right;
}

Exit examine(const Options& o) {
  Report report;
  look_at_machine(report);
  look_at_kernels(report);
  const std::vector<std::string> usable = look_at_devices(o, report);
  bool all_right = true;
  for (const std::string& device : usable) {
    report.line("{}: a few problems, judged against the oracle", device);
    const int right = smoke(device, report);
    all_right = all_right && right == static_cast<int>(std::size(smoke_lines));
    report.line("{}: {} of {} right", device, right, std::size(smoke_lines));
  }
  if (usable.empty()) report.line("no GPU to try: what is missing, and what to do about it, is said above");
  std::ofstream file(o.report);
  file << report.text();
  file.close();
  if (!file)
    return tools::report(unavailable(fmt::format("the report cannot be written to {}", o.report)), false);
  fmt::print("wrote {}: please post it, whatever it says (docs/first-run.md)\n", o.report);
  return usable.empty() ? Exit::cannot : all_right ? Exit::ok : Exit::check_failed;
}

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("doctor", "What is missing for a GPU; a few problems on it; a report to post");
  verb->add_option("--device", options->devices, "Try this one; else every hip:N")->allow_extra_args(false);
  verb->add_option("--report", options->report, "Where to write it")->capture_default_str();
  verb->callback([options, &chosen] { chosen.run = [options] { return examine(*options); }; });
}

}  // namespace tools
