// The devices that claims name, and how much memory each has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hilbench {

// Nominal memory of "a100-80gb"; nothing for a device that is not known.
std::optional<std::int64_t> nominal_memory_bytes(std::string_view device);

}  // namespace hilbench
