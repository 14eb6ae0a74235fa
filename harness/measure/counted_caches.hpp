// What the caches hold before an execution that is counted.
#pragma once

#include <functional>
#include <utility>

#include "harness/device/device.hpp"
#include "harness/sweep/settings.hpp"

namespace hilbench {

// Of one variant, in the passes of one count. First the caches are evicted: what another variant left in the
// L2 would be counted, as hits or as lines that are written back. With warm caches it then runs once, and
// each pass leaves them warm for the next.
class CountedCaches {
 public:
  CountedCaches(Device& device, CacheState cache, std::function<void()> run)
      : device_(device), cache_(cache), run_(std::move(run)) {}
  void restore() {
    const bool first = std::exchange(first_, false);
    if (cache_ == CacheState::cold || first) device_.evict_caches();
    if (cache_ == CacheState::warm && first) run_();
  }

 private:
  Device& device_;
  const CacheState cache_;
  const std::function<void()> run_;
  bool first_ = true;
};

}  // namespace hilbench
