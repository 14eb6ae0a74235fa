// The counter backends of this build; open_counters() chooses one by the set's `backend`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/counters/counters.hpp"

namespace hilbench {

// Linux perf events, one descriptor per event and thread. The threads of an OpenMP region of `threads` open
// theirs, so the work that is counted must run in regions of as many threads.
std::unique_ptr<CounterBackend> open_perf(const CounterSet& set, int threads);

// Every event absent with `reason`.
std::unique_ptr<CounterBackend> open_none(const CounterSet& set, std::string reason);

// What perf_event_open wants for the event of a set; nothing where the text is no event.
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  bool in_kernel = false;  // happens in the kernel, so that it cannot be counted for user space alone
};
std::optional<PerfEvent> parse_perf_event(std::string_view text);

// Why perf_event_open failed with `error` (an errno), and what to do. `paranoid`: the text of
// /proc/sys/kernel/perf_event_paranoid.
std::string perf_failure(int error, std::string_view paranoid);

}  // namespace hilbench
