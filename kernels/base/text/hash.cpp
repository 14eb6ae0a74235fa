#include "kernels/base/text/hash.hpp"

#include <fmt/format.h>

namespace hilbench {

std::string hash_text(std::string_view bytes) {
  return fmt::format("{:016x}", fnv1a(bytes));
}

}  // namespace hilbench
