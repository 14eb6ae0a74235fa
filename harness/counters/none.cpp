#include "harness/counters/backends.hpp"

namespace hilbench {
namespace {

class NoCounters : public CounterBackend {
 public:
  NoCounters(const CounterSet& set, const std::string& reason) {
    for (const CounterEvent& event : set.events) absent_[event.name] = {.reason = reason};
  }
  int passes() const override { return 0; }
  void begin(int) override {}
  void end(int) override {}
  RawCounts read() override { return absent_; }

 private:
  RawCounts absent_;
};

}  // namespace

std::unique_ptr<CounterBackend> open_none(const CounterSet& set, std::string reason) {
  return std::make_unique<NoCounters>(set, reason);
}

}  // namespace hilbench
