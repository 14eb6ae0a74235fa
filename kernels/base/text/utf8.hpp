// Whether text can stand in JSON.
#pragma once

#include <string_view>

#include "kernels/base/text/text.hpp"

namespace hilbench {

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace hilbench
