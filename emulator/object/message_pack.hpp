// MessagePack, as far as the metadata note of a code object uses it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace cdna {

struct Message {
  enum class Kind : uint8_t { none, integer, text, list, map } kind = Kind::none;
  uint64_t integer = 0;
  std::string text;
  std::vector<Message> list;
  std::map<std::string, Message> map;

  const Message* find(const std::string& key) const;
  uint64_t number(const std::string& key, uint64_t otherwise) const;
  std::string word(const std::string& key) const;
};

Message parse_message(Bytes bytes);

}  // namespace cdna
