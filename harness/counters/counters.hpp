// Hardware counters behind one small interface. The counters of each set, and the ratios derived from them,
// are data: sets/*.yaml.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// How the counts of a ring's ranks combine: traffic is added up, shares and averages are averaged over the
// ranks. Durations do not combine: ranks wait for each other while each starts and stops counting.
enum class OverRanks { sum, mean, none };

// One event of a set, and one ratio derived from events.
struct CounterEvent {
  std::string name;   // the name in records: "l1d_read_misses"
  std::string event;  // the name for the backend: "hw-cache:l1d:read:miss", "dram__bytes_read.sum"
  std::string unit;
  OverRanks ranks = OverRanks::sum;
};
// An event of every ring: the bytes that its transport counted in one execution.
inline constexpr const char* kRingBytes = "ring_bytes";
struct DerivedCounter {
  std::string name;
  std::string unit;
  // Names of events, or kRingBytes, each list added up: value = offset + scale * numerator / denominator;
  // without a denominator, offset + scale * numerator.
  std::vector<std::string> numerator;
  std::vector<std::string> denominator;
  double offset = 0;
  double scale = 1;
};

// The kind of device that a set counts on: 0 is the CPU, else the compute capability of a CUDA device, 10 *
// major + minor.
using CounterTarget = int;
constexpr CounterTarget kCpuTarget = 0;
std::string target_name(CounterTarget target);  // "the CPU", "compute capability 9.0"

struct CounterSet {
  std::string name;
  std::string help;
  std::string backend;                                  // "perf", "cupti_range", "cupti_events", "nvml"
  CounterTarget first = kCpuTarget, last = kCpuTarget;  // the first and last target of the set
  std::map<std::string, int> passes;  // executions needed, by chip ("GA100"), if known in advance
  std::string unavailable;            // why none of it can be counted; empty if that is not known yet
  std::vector<CounterEvent> events;
  std::vector<DerivedCounter> derived;
};
// Every set of this build, from the YAML files embedded at build time. Sets for different targets may
// share a name.
const std::vector<CounterSet>& counter_sets();
const CounterSet* find_counter_set(std::string_view name, CounterTarget target);
// The set of that name for the target. If there is none, the first set of that name, marked `unavailable`, so
// that its counters appear with the reason. Throws std::out_of_range if no target has a set of that name.
CounterSet counter_set(std::string_view name, CounterTarget target);
// The target of a case on `device`. For a CUDA device: that of the calling thread's current context, or
// device 0 if the thread has none; -1 if no CUDA device answers.
CounterTarget counter_target(DeviceKind device);

// A raw sum, or the reason why it was not read; never 0 for "not read".
struct RawCount {
  std::optional<double> value;
  std::string reason;
  bool scaled = false;        // counted for a part of the time or of the chip; the source says so
  bool fake = false;          // by a library that stands in for CUPTI in tests; the source says so
  std::vector<double> ranks;  // of a ring: one for each rank, or for each GPU if ranks share GPUs
};
using RawCounts = std::map<std::string, RawCount>;  // by CounterEvent::name

// What the ranks of a ring counted together in the same executions. If a rank did not count, the
// reason names it.
RawCounts over_ranks(const CounterSet& set, const std::vector<RawCounts>& ranks);

class CounterBackend {
 public:
  virtual ~CounterBackend() = default;
  virtual int passes() const = 0;  // executions that read() needs; 0 once counting has failed
  virtual void begin(int pass) = 0;
  virtual void end(int pass) = 0;
  virtual RawCounts read() = 0;
};
// Never fails: read() holds the reason and the remedy for events that cannot be opened. `threads`: the OpenMP
// threads whose work is counted (perf). CUDA sets count all work of the calling thread's current device
// between begin() and end(); end() waits for that work.
std::unique_ptr<CounterBackend> open_counters(const CounterSet& set, int threads);
// Closes what this process keeps open for its next count. While it is open, the profiler slows everything
// that is timed.
void close_counters();

// The counters of the set, with the derived ones. A ratio with a missing part is absent, with that
// part's reason. Events of the set that are not in `raw` are absent too. The source of a scaled value
// is "SOURCE, scaled", that of a fake one "SOURCE, fake".
std::map<std::string, Counter> finish_counters(const CounterSet& set, const RawCounts& raw,
                                               std::string_view source, int passes);

// Runs `restore` (which sets the cache state) and then `body` once for each pass, and returns the finished
// counters. Throws only what `restore` and `body` throw.
std::map<std::string, Counter> count(const CounterSet& set, int threads, const std::function<void()>& restore,
                                     const std::function<void()>& body);

}  // namespace hilbench
