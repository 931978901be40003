#include "gpu/message_pack.hpp"

namespace fw::gpu {

std::span<const unsigned char> MessagePack::take(std::uint64_t size) {
  if (size > bytes_.size()) {
    damaged_ = true;
    bytes_ = {};
    return {};
  }
  const auto taken = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return taken;
}

std::uint64_t MessagePack::big_endian(int size) {
  std::uint64_t value = 0;
  for (const unsigned char byte : take(static_cast<std::uint64_t>(size))) value = value << 8 | byte;
  return value;
}

// A map or an array: up to 15 in the byte itself, else in the 16 or 32 bits behind `wide` and `wide` + 1.
std::uint64_t MessagePack::count(unsigned char small, unsigned char wide) {
  const unsigned char tag = next();
  if ((tag & 0xf0) == small) return tag & 0x0f;
  if (tag == wide) return big_endian(2);
  if (tag == wide + 1) return big_endian(4);
  damaged_ = true;
  return 0;
}

std::string_view MessagePack::text() {
  const unsigned char tag = next();
  std::uint64_t size = 0;
  if ((tag & 0xe0) == 0xa0)
    size = tag & 0x1f;
  else if (tag >= 0xd9 && tag <= 0xdb)
    size = big_endian(1 << (tag - 0xd9));
  else
    damaged_ = true;
  const auto bytes = take(size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::int64_t MessagePack::number() {
  const unsigned char tag = next();
  if (tag < 0x80) return tag;
  if (tag >= 0xe0) return static_cast<signed char>(tag);
  if (tag >= 0xcc && tag <= 0xcf) return static_cast<std::int64_t>(big_endian(1 << (tag - 0xcc)));
  damaged_ = true;
  return 0;
}

void MessagePack::skip() {
  if (bytes_.empty()) {
    damaged_ = true;
    return;
  }
  const unsigned char tag = bytes_[0];
  if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf)
    return each_member([&](std::string_view) { skip(); });
  if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) return each_element([&] { skip(); });
  if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) return static_cast<void>(text());
  if (tag >= 0xd0 && tag <= 0xd3) return static_cast<void>(take(1 + (std::uint64_t{1} << (tag - 0xd0))));
  if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return static_cast<void>(next());  // nil, false, true
  static_cast<void>(number());
}

}  // namespace fw::gpu
