#include "object/message_pack.hpp"

namespace cdna {
namespace {

constexpr int kDepth = 16;

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  Message value(int depth) {
    if (depth > kDepth) throw Error("the metadata note nests too deeply");
    const uint8_t tag = static_cast<uint8_t>(big_endian(1));
    if (tag < 0x80) return integer(tag);
    if (tag < 0x90) return map(tag & 15, depth);
    if (tag < 0xa0) return list(tag & 15, depth);
    if (tag < 0xc0) return text(tag & 31);
    if (tag >= 0xe0) return integer(static_cast<uint64_t>(static_cast<int8_t>(tag)));
    switch (tag) {
      case 0xc0: return {};
      case 0xc2:
      case 0xc3: return integer(tag & 1);
      case 0xc4:
      case 0xd9: return text(big_endian(1));
      case 0xc5:
      case 0xda: return text(big_endian(2));
      case 0xc6:
      case 0xdb: return text(big_endian(4));
      case 0xca: return integer(big_endian(4));
      case 0xcb: return integer(big_endian(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: return integer(big_endian(1 << (tag - 0xcc)));
      case 0xd0: return integer(static_cast<uint64_t>(static_cast<int8_t>(big_endian(1))));
      case 0xd1: return integer(static_cast<uint64_t>(static_cast<int16_t>(big_endian(2))));
      case 0xd2: return integer(static_cast<uint64_t>(static_cast<int32_t>(big_endian(4))));
      case 0xd3: return integer(big_endian(8));
      case 0xdc: return list(big_endian(2), depth);
      case 0xdd: return list(big_endian(4), depth);
      case 0xde: return map(big_endian(2), depth);
      case 0xdf: return map(big_endian(4), depth);
      default: throw Error("the metadata note has an unknown tag " + hex(tag));
    }
  }

 private:
  uint64_t big_endian(int bytes) {
    uint64_t value = 0;
    for (int n = 0; n < bytes; ++n) value = value << 8 | bytes_.read<uint8_t>(at_++, "metadata note");
    return value;
  }
  static Message integer(uint64_t value) {
    Message m;
    m.kind = Message::Kind::integer;
    m.integer = value;
    return m;
  }
  Message text(uint64_t size) {
    const Bytes part = bytes_.part(at_, size, "metadata note");
    at_ += size;
    Message m;
    m.kind = Message::Kind::text;
    m.text.assign(part.data.begin(), part.data.end());
    return m;
  }
  Message list(uint64_t size, int depth) {
    Message m;
    m.kind = Message::Kind::list;
    while (size-- > 0) m.list.push_back(value(depth + 1));
    return m;
  }
  Message map(uint64_t size, int depth) {
    Message m;
    m.kind = Message::Kind::map;
    while (size-- > 0) {
      std::string key = value(depth + 1).text;
      m.map[std::move(key)] = value(depth + 1);
    }
    return m;
  }

  Bytes bytes_;
  uint64_t at_ = 0;
};

}  // namespace

const Message* Message::find(const std::string& key) const {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

uint64_t Message::number(const std::string& key, uint64_t otherwise) const {
  const Message* m = find(key);
  return m && m->kind == Kind::integer ? m->integer : otherwise;
}

std::string Message::word(const std::string& key) const {
  const Message* m = find(key);
  return m ? m->text : std::string();
}

Message parse_message(Bytes bytes) { return Reader(bytes).value(0); }

}  // namespace cdna
