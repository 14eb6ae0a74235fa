// The counter backends of this build. open_counters() chooses one by the set's `backend`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/counters/counters.hpp"

namespace hilbench {

// Linux perf events, one descriptor for each event and thread. Each thread of an OpenMP region of `threads`
// opens its own, so the counted work must run in regions of the same number of threads.
std::unique_ptr<CounterBackend> open_perf(const CounterSet& set, int threads);

// CUPTI's Range Profiler (compute capability 7.5 and up, CUDA 12.6 and up): one user range around each
// pass, and the caller repeats the work for each pass. Raw counts are sums over the whole GPU, as the
// metric's name says.
std::unique_ptr<CounterBackend> open_cupti_range(const CounterSet& set);
// Closes the sessions that were kept open for the next count of their sets.
void close_cupti_range();

// CUPTI's Event API (below compute capability 7.5, CUDA up to 12.9): counts each event on all instances of
// its domain and adds them up.
std::unique_ptr<CounterBackend> open_cupti_events(const CounterSet& set);

// The driver's counts of a GPU's NVLinks, read through NVML.
std::unique_ptr<CounterBackend> open_nvml_links(const CounterSet& set);

// What CUPTI's host library knows of a set for a chip ("GH100"). It needs neither GPU nor driver.
struct HostCheck {
  std::vector<std::string> unknown;  // events that the chip lacks
  int passes = 0;
  std::string unavailable;  // why the library could not be asked
};
HostCheck check_cupti_set(const CounterSet& set, const std::string& chip);

// Why a call of CUPTI failed with `status` (a CUptiResult), and what to do about it.
std::string cupti_failure(std::string_view call, int status);

// Who may read counters, from the text of /proc/driver/nvidia/params; "" if the text does not say.
std::string profiling_permission(const std::string& params);

// Counts nothing: every event is absent with `reason`.
std::unique_ptr<CounterBackend> open_none(const CounterSet& set, std::string reason);

// The arguments of perf_event_open for an event of a set; nothing if the text names no event.
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  bool in_kernel = false;  // happens in the kernel, so it cannot be counted for user space alone
};
std::optional<PerfEvent> parse_perf_event(std::string_view text);

// Why perf_event_open failed with `error` (an errno), and what to do about it. `paranoid`: the
// text of /proc/sys/kernel/perf_event_paranoid.
std::string perf_failure(int error, std::string_view paranoid);

}  // namespace hilbench
