// What the command prints: tables, a progress bar, numbers people can read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tools {

std::string readable_bytes(double bytes);      // "1.5 MiB"
std::string readable_seconds(double seconds);  // "12.3 ms"

// Lines of cells under a heading. Rows are printed as they come, so the widths are given.
class Table {
 public:
  struct Column {
    std::string title;
    int width;  // negative: flush left, as text is
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void heading() const;
  void row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
};

// A line on standard error that is drawn over; nothing at all where that is not a terminal.
class Progress {
 public:
  explicit Progress(std::int64_t total, bool wanted = true);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::int64_t done, const std::string& label);
  void clear();  // before something else is printed

 private:
  std::int64_t total_;
  bool visible_;
  bool drawn_ = false;
};

}  // namespace tools
