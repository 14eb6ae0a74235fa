// Work that keeps a core busy.
#pragma once

#include <chrono>

namespace hilbench {

inline void spin(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (volatile bool spinning = true; spinning && std::chrono::steady_clock::now() < end;) continue;
}

}  // namespace hilbench
