#include "harness/device/bound_threads.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/machine/host.hpp"

namespace hilbench {
namespace {

bool user_decides() {
  constexpr std::array<const char*, 4> kNames = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                 "KMP_AFFINITY"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

// Binds the calling thread. Returns where it could run before; nothing if it is not bound.
std::optional<cpu_set_t> bind_to(int hardware_thread) {
  cpu_set_t before, only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(hardware_thread), &only);
  if (sched_getaffinity(0, sizeof before, &before) != 0 || sched_setaffinity(0, sizeof only, &only) != 0)
    return std::nullopt;
  return before;
}

}  // namespace

BoundThreads::BoundThreads(int threads, int first, int all) {
  if (threads < 1 || user_decides()) return;
  const std::vector<int> places = usable_hardware_threads();
  if (static_cast<int>(places.size()) < all) return;
  before_.resize(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const auto number = static_cast<std::size_t>(omp_get_thread_num());
    before_[number] = bind_to(places[static_cast<std::size_t>(first) + number]);
  }
}

BoundThreads::~BoundThreads() {
  if (before_.empty()) return;
#pragma omp parallel num_threads(static_cast <int>(before_.size()))
  {
    // If Linux refuses, the thread stays where it is, which harms no result.
    const auto& before = before_[static_cast<std::size_t>(omp_get_thread_num())];
    if (before) sched_setaffinity(0, sizeof *before, &*before);
  }
}

bool BoundThreads::bound() const {
  return !before_.empty() &&
         std::all_of(before_.begin(), before_.end(), [](const auto& before) { return before.has_value(); });
}

}  // namespace hilbench
