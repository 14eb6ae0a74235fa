// What the caches hold before an execution that is counted.
#pragma once

#include <functional>
#include <utility>

namespace hilbench {

// Of one variant, in the passes of one count. First the caches are evicted: what another variant left in the
// L2 would be counted, as hits or as lines that are written back. With warm caches it then runs once, and
// each pass leaves them warm for the next.
class CountedCaches {
 public:
  CountedCaches(bool cold, std::function<void()> evict, std::function<void()> run)
      : cold_(cold), evict_(std::move(evict)), run_(std::move(run)) {}
  void restore() {
    const bool first = std::exchange(first_, false);
    if (cold_ || first) evict_();
    if (!cold_ && first) run_();
  }

 private:
  const bool cold_;
  const std::function<void()> evict_, run_;
  bool first_ = true;
};

}  // namespace hilbench
