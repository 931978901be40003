#include "support/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace tools {

namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

Outcome system_failure(const char* doing, const std::string& path) {
  const int code =
      errno == ENOENT || errno == EISDIR || errno == ENOTDIR ? FLASHWAVE_INVALID : FLASHWAVE_UNAVAILABLE;
  return {code, fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno))};
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Outcome File::open(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not hang
  if (descriptor_ < 0) return system_failure("open", path);
  struct stat status{};
  if (fstat(descriptor_, &status) != 0) return system_failure("look at", path);
  if (!S_ISREG(status.st_mode)) return invalid(path + " is not a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

Outcome File::read(std::span<unsigned char> to, std::uint64_t from) const {
  while (!to.empty()) {
    const ssize_t count = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path_);
    if (count == 0) return invalid(path_ + " became shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(count));
    from += static_cast<std::uint64_t>(count);
  }
  return {};
}

Outcome ReplacedFile::failed(const char* doing) const { return system_failure(doing, temporary_); }

ReplacedFile::~ReplacedFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Outcome ReplacedFile::open(const std::string& path) {
  // A device or a directory of that name would be replaced by the file.
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    return invalid(fmt::format("{} is not a regular file, and only such a one is written over", path));
  path_ = path;
  temporary_ = path + ".XXXXXX";
  descriptor_ = mkstemp(temporary_.data());
  if (descriptor_ < 0) return system_failure("write beside", path);
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor_, 0666 & ~mask) != 0) return failed("set the mode of");
  return {};
}

Outcome ReplacedFile::flush() {
  std::span<const unsigned char> left = buffer_;
  while (!left.empty()) {
    const ssize_t count = ::write(descriptor_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write");
    left = left.subspan(static_cast<std::size_t>(count));
  }
  buffer_.clear();
  return {};
}

Outcome ReplacedFile::write(const void* bytes, std::size_t count) {
  const auto* first = static_cast<const unsigned char*>(bytes);
  buffer_.insert(buffer_.end(), first, first + count);
  return buffer_.size() < buffer_bytes ? Outcome() : flush();
}

Outcome ReplacedFile::commit() {
  TOOLS_TRY(flush());
  if (fsync(descriptor_) != 0) return failed("bring to disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return system_failure("rename to", path_);
  ::close(descriptor_);
  descriptor_ = -1;
  // The name is on disk when its directory is; some file systems cannot do that, and the file is whole
  // anyway.
  if (const int directory = ::open(directory_of(path_).c_str(), O_RDONLY | O_CLOEXEC); directory >= 0) {
    fsync(directory);
    ::close(directory);
  }
  return {};
}

Outcome read_lines(const std::string& path, std::vector<std::string>& lines) {
  constexpr std::uint64_t largest = 64u << 20;
  File file;
  TOOLS_TRY(file.open(path));
  if (file.size() > largest) return invalid(fmt::format("{} is too large for a list of problems", path));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(file.size()));
  TOOLS_TRY(file.read(bytes, 0));
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return {};
}

}  // namespace tools
