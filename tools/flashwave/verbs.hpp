// The verbs of the command. Each adds its words to the parser, and what it does when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "support/outcome.hpp"

namespace tools {

struct Chosen {
  std::function<Exit()> run;  // of the verb on the command line
};

void add_devices(CLI::App& app, Chosen& chosen);
void add_run(CLI::App& app, Chosen& chosen);
void add_verify(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Chosen& chosen);
void add_explain(CLI::App& app, Chosen& chosen);
void add_kernels(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);

// A check of CLI11: its unsigned numbers wrap.
inline std::string not_negative(const std::string& given) {
  return given.starts_with('-') ? given + " is below 0" : std::string();
}

// Says what went wrong, on standard error, or as a line of JSON on standard output.
Exit report(const Outcome& outcome, bool json);

// The device of that name, for its threads and instruction set.
Outcome find_device(const std::string& name, flashwave_device& out);

}  // namespace tools
