// CUPTI's Event API. CUPTI splits the events behind a set's metrics into group sets, one for each pass. Each
// group counts on all instances of its domain (the slices of an L2, the multiprocessors), and the instances
// are added up. Kernels run one after another while events are counted.
#include <cupti_events.h>
#include <cupti_metrics.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_call.hpp"
#include "harness/counters/cupti_library.hpp"

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;

// CUDA 13's library has the functions but supports none of these devices.
const LoadedLibrary& cupti_events_library() {
  static const LoadedLibrary loaded(cupti_names({12}));
  return loaded;
}

template <class Value>
Value group_attribute(CUpti_EventGroup group, CUpti_EventGroupAttribute attribute) {
  Value value{};
  std::size_t bytes = sizeof value;
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupGetAttribute, group, attribute, &bytes, &value);
  return value;
}

std::vector<CUpti_EventID> events_of(CUpti_EventGroup group) {
  std::vector<CUpti_EventID> events(group_attribute<std::uint32_t>(group, CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS));
  std::size_t bytes = events.size() * sizeof events[0];
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupGetAttribute, group, CUPTI_EVENT_GROUP_ATTR_EVENTS,
                 &bytes, events.data());
  return events;
}

std::vector<CUpti_EventID> events_of(CUpti_MetricID metric) {
  std::uint32_t count = 0;
  HILBENCH_CUPTI(cupti_events_library(), cuptiMetricGetNumEvents, metric, &count);
  std::vector<CUpti_EventID> events(count);
  std::size_t bytes = events.size() * sizeof events[0];
  HILBENCH_CUPTI(cupti_events_library(), cuptiMetricEnumEvents, metric, &bytes, events.data());
  return events;
}

void count_all_instances(CUpti_EventGroup group) {
  std::uint32_t all = 1;
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetAttribute, group,
                 CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES, sizeof all, &all);
}

// What an event counted on all instances of the device.
struct EventCount {
  std::uint64_t value = 0;
  bool scaled = false;  // some instances cannot be counted: the sum over the others, scaled up
};

std::uint64_t add_instances(const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) {
    if (value == CUPTI_EVENT_OVERFLOW || value == CUPTI_EVENT_INVALID)
      throw CuptiError("an event overflowed its counter, or CUPTI calls it invalid; measure a shorter case");
    sum += value;
  }
  return sum;
}

EventCount read_event(CUpti_EventGroup group, CUpti_EventID event, CUdevice device) {
  const auto counted = group_attribute<std::uint32_t>(group, CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT);
  const auto domain = group_attribute<CUpti_EventDomainID>(group, CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID);
  std::uint32_t total = 0;
  std::size_t bytes = sizeof total;
  HILBENCH_CUPTI(cupti_events_library(), cuptiDeviceGetEventDomainAttribute, device, domain,
                 CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT, &bytes, &total);
  std::vector<std::uint64_t> values(counted);
  const std::size_t all = values.size() * sizeof values[0];
  bytes = all;
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupReadEvent, group, CUPTI_EVENT_READ_FLAG_NONE, event,
                 &bytes, values.data());
  if (counted == 0 || bytes != all)
    throw CuptiError(fmt::format("CUPTI counted on {} of {} instances of an event, and read {}", counted,
                                 total, bytes / sizeof values[0]));
  return {.value = add_instances(values) * total / counted, .scaled = counted != total};
}

double number(CUpti_MetricID metric, CUpti_MetricValue value) {
  CUpti_MetricValueKind kind{};
  std::size_t bytes = sizeof kind;
  HILBENCH_CUPTI(cupti_events_library(), cuptiMetricGetAttribute, metric, CUPTI_METRIC_ATTR_VALUE_KIND,
                 &bytes, &kind);
  switch (kind) {
    case CUPTI_METRIC_VALUE_KIND_DOUBLE:
      return value.metricValueDouble;
    case CUPTI_METRIC_VALUE_KIND_UINT64:
      return static_cast<double>(value.metricValueUint64);
    case CUPTI_METRIC_VALUE_KIND_INT64:
      return static_cast<double>(value.metricValueInt64);
    case CUPTI_METRIC_VALUE_KIND_PERCENT:
      return value.metricValuePercent;
    case CUPTI_METRIC_VALUE_KIND_THROUGHPUT:
      return static_cast<double>(value.metricValueThroughput);
    case CUPTI_METRIC_VALUE_KIND_UTILIZATION_LEVEL:
      return static_cast<double>(value.metricValueUtilizationLevel);
    default:
      throw CuptiError("the metric is not a number");
  }
}

// Owns the group sets of some metrics.
class GroupSets {
 public:
  GroupSets(void* context, std::vector<CUpti_MetricID> metrics) {
    HILBENCH_CUPTI(cupti_events_library(), cuptiMetricCreateEventGroupSets, static_cast<CUcontext>(context),
                   metrics.size() * sizeof metrics[0], metrics.data(), &sets_);
  }
  GroupSets(const GroupSets&) = delete;
  GroupSets& operator=(const GroupSets&) = delete;
  ~GroupSets() {
    try {
      if (enabled_ != nullptr) disable();
      HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetsDestroy, sets_);
    } catch (const CuptiError& error) {
      fmt::print(stderr, "hilbench: {}\n", error.what());
    }
  }
  int size() const { return static_cast<int>(sets_->numSets); }
  // The groups of a pass, all of which count from then on.
  void enable(int pass) {
    CUpti_EventGroupSet& set = sets_->sets[pass];
    for (const CUpti_EventGroup group : groups_of(set)) count_all_instances(group);
    HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetEnable, &set);
    enabled_ = &set;
  }
  std::vector<CUpti_EventGroup> enabled() const { return groups_of(*enabled_); }
  // No counter of the device may run on: it would slow everything that is timed.
  void disable() {
    HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetDisable, enabled_);
    enabled_ = nullptr;
  }

 private:
  static std::vector<CUpti_EventGroup> groups_of(const CUpti_EventGroupSet& set) {
    return std::vector<CUpti_EventGroup>(set.eventGroups, set.eventGroups + set.numEventGroups);
  }

  CUpti_EventGroupSets* sets_ = nullptr;
  CUpti_EventGroupSet* enabled_ = nullptr;
};

class EventCounters : public CuptiCounters {
 public:
  explicit EventCounters(const CounterSet& set) : set_(set) {
    guarded([this] { open(); });
  }
  int passes() const override { return failure().empty() ? groups_->size() : 0; }

  void begin(int pass) override {
    guarded([&] {
      groups_->enable(pass);
      began_ = Clock::now();
    });
  }

  void end(int) override {
    guarded([&] {
      if (const int status = CudaDriver::get().synchronize(); status != 0)
        throw CuptiError(fmt::format("the work that was counted failed: cuCtxSynchronize gives {}", status));
      duration_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - began_).count());
      for (const CUpti_EventGroup group : groups_->enabled())
        for (const CUpti_EventID event : events_of(group)) {
          const EventCount count = read_event(group, event, CudaDriver::get().device());
          events_.push_back(event);
          values_.push_back(count.value);
          if (count.scaled) scaled_.insert(event);
        }
      groups_->disable();
    });
  }

  RawCounts read() override {
    RawCounts counts;
    for (std::size_t i = 0; i < set_.events.size(); ++i) counts[set_.events[i].name] = count(i);
    return counts;
  }

 private:
  void open() {
    const CudaDriver& driver = in_use_driver();
    const CuptiFound cupti = find_cupti_events();
    require_countable(cupti);
    fake_ = cupti.fake;
    HILBENCH_CUPTI(cupti_events_library(), cuptiSetEventCollectionMode,
                   static_cast<CUcontext>(driver.context()), CUPTI_EVENT_COLLECTION_MODE_KERNEL);
    std::vector<CUpti_MetricID> found;
    for (const CounterEvent& event : set_.events) {
      metrics_.push_back(find_metric(driver.device(), event.event));
      if (metrics_.back()) found.push_back(*metrics_.back());
    }
    if (found.empty()) throw CuptiError("the device has none of the metrics of this set");
    groups_.emplace(driver.context(), found);
  }

  static std::optional<CUpti_MetricID> find_metric(CUdevice device, const std::string& name) {
    constexpr const char* kFind = "cuptiMetricGetIdFromName";
    const auto find = cupti_function<decltype(cuptiMetricGetIdFromName)>(cupti_events_library(), kFind);
    CUpti_MetricID id = 0;
    const CUptiResult status = find(device, name.c_str(), &id);
    if (status == CUPTI_ERROR_INVALID_METRIC_NAME) return std::nullopt;
    if (status != CUPTI_SUCCESS) throw CuptiError(cupti_failure(kFind, status));
    return id;
  }

  RawCount count(std::size_t i) {
    if (!failure().empty()) return {.reason = failure()};
    if (!metrics_[i]) return {.reason = fmt::format("this device has no metric {}", set_.events[i].event)};
    CUpti_MetricValue value{};
    try {
      HILBENCH_CUPTI(cupti_events_library(), cuptiMetricGetValue, CudaDriver::get().device(), *metrics_[i],
                     events_.size() * sizeof(CUpti_EventID), events_.data(),
                     values_.size() * sizeof(std::uint64_t), values_.data(), duration_ns_, &value);
      RawCount counted = finite(number(*metrics_[i], value));
      counted.scaled = is_scaled(*metrics_[i]);
      counted.fake = fake_;
      return counted;
    } catch (const CuptiError& error) {
      return {.reason = error.what()};
    }
  }

  bool is_scaled(CUpti_MetricID metric) const {
    const std::vector<CUpti_EventID> events = events_of(metric);
    return std::any_of(events.begin(), events.end(),
                       [this](CUpti_EventID event) { return scaled_.count(event) != 0; });
  }

  CounterSet set_;
  bool fake_ = false;                                   // the library stands in for CUPTI in tests
  std::vector<std::optional<CUpti_MetricID>> metrics_;  // of each event of the set
  std::optional<GroupSets> groups_;
  std::vector<CUpti_EventID> events_;  // the counted events, with their
  std::vector<std::uint64_t> values_;
  std::set<CUpti_EventID> scaled_;
  Clock::time_point began_;
  std::uint64_t duration_ns_ = 0;  // of the last pass
};

}  // namespace

CuptiFound find_cupti_events() {
  return look_at_cupti(cupti_events_library(), "install the CUPTI of CUDA 12 or put it on LD_LIBRARY_PATH");
}

std::unique_ptr<CounterBackend> open_cupti_events(const CounterSet& set) {
  return std::make_unique<EventCounters>(set);
}

}  // namespace hilbench
