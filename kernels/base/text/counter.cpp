#include "kernels/base/text/counter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hilbench {

void check_share(std::string_view name, Counter& counter) {
  constexpr double kAgreement = 1e-3;
  if (!counter.value || !name.ends_with("_hit_rate")) return;
  const double value = *counter.value, possible = std::clamp(value, 0.0, 1.0);
  if (value == possible) return;
  if (std::abs(value - possible) <= kAgreement) {
    counter.value = possible;
    counter.source += fmt::format(", rounded from {}", value);
    return;
  }
  counter.value.reset();
  counter.reason =
      fmt::format("its counts contradict each other: they give {:.6g}, a share is 0 to 1", value);
}

}  // namespace hilbench
