// Hardware counters behind one small interface. Which counters a set holds, and the ratios derived from them,
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

// What the counts of a ring's ranks make together: traffic adds up, shares and averages are those of a rank.
// Durations make nothing: ranks wait for each other while each begins and ends to count.
enum class OverRanks { sum, mean, none };

// One event of a set, and one ratio derived from events.
struct CounterEvent {
  std::string name;   // "l1d_read_misses": the name in records
  std::string event;  // what the backend understands: "hw-cache:l1d:read:miss", "dram__bytes_read.sum"
  std::string unit;
  OverRanks ranks = OverRanks::sum;
};
// Of an execution of a ring: bytes that its transport counted.
inline constexpr const char* kRingBytes = "ring_bytes";
struct DerivedCounter {
  std::string name;
  std::string unit;
  // Names of events, or kRingBytes, added up: value = offset + scale * numerator / denominator, or offset +
  // scale * numerator where there is no denominator.
  std::vector<std::string> numerator;
  std::vector<std::string> denominator;
  double offset = 0;
  double scale = 1;
};

// What a set counts on: 0 is the CPU, else a CUDA device's compute capability, 10 * major + minor.
using CounterTarget = int;
constexpr CounterTarget kCpuTarget = 0;
std::string target_name(CounterTarget target);  // "the CPU", "compute capability 9.0"

struct CounterSet {
  std::string name;
  std::string help;
  std::string backend;                                  // "perf", "cupti_range", "cupti_events", "nvml"
  CounterTarget first = kCpuTarget, last = kCpuTarget;  // targets that it is for
  std::map<std::string, int> passes;  // executions by chip ("GA100"), where they are known ahead
  std::string unavailable;            // why nothing of it can be counted; empty: try
  std::vector<CounterEvent> events;
  std::vector<DerivedCounter> derived;
};
// Every set of this build, from the YAML embedded at build time. The same name stands for one set per target.
const std::vector<CounterSet>& counter_sets();
const CounterSet* find_counter_set(std::string_view name, CounterTarget target);
// The set of that name for the target; where it has none, the first of that name made `unavailable`, so that
// its counters are there with the reason. Throws std::out_of_range where no target has it.
CounterSet counter_set(std::string_view name, CounterTarget target);
// What a case on `device` counts on: for a CUDA device, that of the calling thread's current context, or
// device 0 where there is none; -1 where no CUDA device answers.
CounterTarget counter_target(DeviceKind device);

// A raw sum with its validity; never 0 for "not read".
struct RawCount {
  std::optional<double> value;
  std::string reason;
  bool scaled = false;        // counted for part of the time only and extrapolated: the source says so
  std::vector<double> ranks;  // of a ring: each rank's own, or each GPU's where ranks share it
};
using RawCounts = std::map<std::string, RawCount>;  // by CounterEvent::name

// What the ranks of a ring counted in the same executions; the reason of one that did not count names it.
RawCounts over_ranks(const CounterSet& set, const std::vector<RawCounts>& ranks);

class CounterBackend {
 public:
  virtual ~CounterBackend() = default;
  virtual int passes() const = 0;  // executions that read() needs; 0 from the moment that counting failed
  virtual void begin(int pass) = 0;
  virtual void end(int pass) = 0;
  virtual RawCounts read() = 0;
};
// Never fails: events that cannot be opened are in read() with the reason and the remedy. `threads`: OpenMP
// threads whose work counts (perf). CUDA sets count the device of the calling thread's current context: all
// work that it does between begin() and end(), which waits for it.
std::unique_ptr<CounterBackend> open_counters(const CounterSet& set, int threads);
// Ends what this process holds open for its next count: while it does, what it times is slowed by the
// profiler.
void close_counters();

// Adds derived counters; a missing part makes the ratio absent with that part's reason. Events of the set
// that are not in `raw` are absent too. Where a value is scaled, its source is "SOURCE, scaled".
std::map<std::string, Counter> finish_counters(const CounterSet& set, const RawCounts& raw,
                                               std::string_view source, int passes);

// Runs `body` once per pass, `restore` (cache state) before each, and gives the finished counters. Throws
// only what `restore` and `body` throw.
std::map<std::string, Counter> count(const CounterSet& set, int threads, const std::function<void()>& restore,
                                     const std::function<void()>& body);

}  // namespace hilbench
