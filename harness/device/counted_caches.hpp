// What the caches hold before an execution that is counted.
#pragma once

#include <functional>
#include <utility>

#include "harness/device/device.hpp"

namespace hilbench {

// Of one variant, in the passes of one count. First the caches are evicted: what another variant left in the
// L2 would be counted, as hits or as lines that are written back. With warm caches it then runs once, and
// each pass leaves them warm for the next.
class CountedCaches {
 public:
  CountedCaches(Device& device, bool cold, std::function<void()> run)
      : device_(device), cold_(cold), run_(std::move(run)) {}
  void restore() {
    const bool first = std::exchange(first_, false);
    if (cold_ || first) device_.evict_caches();
    if (!cold_ && first) run_();
  }

 private:
  Device& device_;
  const bool cold_;
  const std::function<void()> run_;
  bool first_ = true;
};

}  // namespace hilbench
