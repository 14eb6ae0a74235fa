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

#include "harness/record.hpp"

namespace hilbench {

// One event of a set, and one ratio derived from events.
struct CounterEvent {
  std::string name;   // "l1d_read_misses": the name in records
  std::string event;  // what the backend understands: "hw-cache:l1d:read:miss"
  std::string unit;
};
struct DerivedCounter {
  std::string name;
  std::string unit;
  std::string numerator;  // names of events; value = offset + scale * numerator / denominator
  std::string denominator;
  double offset = 0;
  double scale = 1;
};
struct CounterSet {
  std::string name;
  std::string help;
  std::string backend;  // "perf"
  std::vector<CounterEvent> events;
  std::vector<DerivedCounter> derived;
};
// Every set of this build, from the YAML embedded at build time.
const std::vector<CounterSet>& counter_sets();
const CounterSet* find_counter_set(std::string_view name);

// A raw sum with its validity; never 0 for "not read".
struct RawCount {
  std::optional<double> value;
  std::string reason;
  bool scaled = false;  // counted for part of the time only and extrapolated: the source says so
};

class CounterBackend {
 public:
  virtual ~CounterBackend() = default;
  virtual int passes() const = 0;  // executions that read() needs
  virtual void begin(int pass) = 0;
  virtual void end(int pass) = 0;
  virtual std::map<std::string, RawCount> read() = 0;  // by CounterEvent::name
};
// Never fails: events that cannot be opened are in read() with the reason and the remedy. `threads`: OpenMP
// threads whose work counts.
std::unique_ptr<CounterBackend> open_counters(const CounterSet& set, int threads);

// Adds derived counters; a missing part makes the ratio absent with that part's reason. Events of the set
// that are not in `raw` are absent too. Where a value is scaled, its source is "SOURCE, scaled".
std::map<std::string, Counter> finish_counters(const CounterSet& set,
                                               const std::map<std::string, RawCount>& raw,
                                               std::string_view source, int passes);

// Runs `work` once per pass, `restore` (cache state) before each, and gives the finished counters.
std::map<std::string, Counter> count(const CounterSet& set, int threads, const std::function<void()>& restore,
                                     const std::function<void()>& work);

}  // namespace hilbench
