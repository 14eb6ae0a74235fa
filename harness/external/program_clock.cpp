// Whether the times that a program reports can be true: its executions alone and beside others, its cores,
// and what its GPU was busy (docs/external.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "harness/external/program.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {

ExternalProgram::AloneAndBeside ExternalProgram::alone_and_beside_others() {
  constexpr std::size_t kAlone = 7;
  constexpr std::int64_t kLeast = 6;
  // In turn, because the machine may be faster at one time than at another: as many as were timed, and more.
  // Now and then one further, because memory that is given back can make every second execution slower.
  const std::array<std::int64_t, 2> counts = {most_executions_, std::max(most_executions_, kLeast)};
  std::array<std::vector<double>, 2> beside;
  AloneAndBeside found;
  std::vector<double> ns;
  for (std::size_t i = 0; i < kAlone; ++i) {
    found.alone.push_back(timed(1, ns));
    if (i == 0 || counts[i % 2] < 2) continue;
    timed(counts[i % 2] + static_cast<std::int64_t>(i / 2 % 2), ns);
    beside[i % 2].push_back(std::accumulate(ns.begin() + 1, ns.end(), 0.0) /
                            static_cast<double>(ns.size() - 1));
  }
  for (std::vector<double>& each : beside)
    if (!each.empty()) found.beside_ns.push_back(median(each));
  return found;
}

void ExternalProgram::check_clock(Device& device) {
  constexpr double kLong_ns = 5e8, kNeverTwice_ns = 5e7;
  constexpr std::int64_t kLeast = 6, kMost = 100'000;
  constexpr int kMeasurements = 4;
  constexpr std::chrono::milliseconds kOtherWorkPasses{500}, kCounterLags{1000};
  const Requests& so_far = clock_.requests();
  if (so_far.executions == 0) return;
  clock_.expect_cores();
  clock_.expect_enough_of_few();
  const double each_ns = so_far.wall_ns / static_cast<double>(so_far.executions);
  std::vector<double> ns;
  if (std::min(each_ns, timed(1, ns).wall_ns) > kNeverTwice_ns) return;  // a request asks for one
  for (int measured = 1;; ++measured) {
    const AloneAndBeside times = alone_and_beside_others();
    try {
      clock_.expect_enough(times.alone);
      for (const double beside_ns : times.beside_ns) clock_.expect_alike(times.alone, beside_ns);
      break;
    } catch (const EnvironmentError&) {
      // Other work on the machine can stretch the requests of an honest program, but hardly each time: who
      // has slept for longer is given a core sooner.
      if (measured == kMeasurements) throw;
      rests_long_ = true;
      std::this_thread::sleep_for(kOtherWorkPasses);
    }
  }
  if (work_.device != DeviceKind::cuda || work_.ring_size > 1) return;
  if (has_kernel_records()) return;  // what CUPTI does meanwhile keeps the GPU busy too
  const std::int64_t many = std::clamp<std::int64_t>(std::llround(kLong_ns / each_ns), kLeast, kMost);
  // A counter that lags may have seen work before the request; between pauses there is none.
  const auto is_believed = [&](std::chrono::milliseconds pause) {
    Durations found;
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<double> share = device.busy_share([&] {
      std::this_thread::sleep_for(pause);
      found = durations("run", "times_ns", many, processes());
      std::this_thread::sleep_for(pause);
    });
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
    return !share ||
           clock_.note_busy(*share * passed.count(), std::accumulate(found.ns.begin(), found.ns.end(), 0.0));
  };
  if (!is_believed({}) && !is_believed(kCounterLags)) clock_.expect_busy();
}

}  // namespace hilbench
