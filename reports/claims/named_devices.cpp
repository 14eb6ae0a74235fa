#include "reports/claims/named_devices.hpp"

#include <array>

namespace hilbench {
namespace {

struct NamedDevice {
  std::string_view name;
  std::int64_t memory_bytes;
};
constexpr std::array<NamedDevice, 2> kDevices = {{
    {"gtx1080-8gb", std::int64_t{8} << 30},
    {"a100-80gb", std::int64_t{80} << 30},
}};

}  // namespace

std::optional<std::int64_t> nominal_memory_bytes(std::string_view device) {
  for (const NamedDevice& known : kDevices)
    if (known.name == device) return known.memory_bytes;
  return std::nullopt;
}

}  // namespace hilbench
