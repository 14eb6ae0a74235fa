// CUPTI's Event API. CUPTI splits the events behind a set's metrics into group sets, one for each pass. Each
// group counts on all instances of its domain (the slices of an L2, the multiprocessors), and the instances
// are added up. Kernels run one after another while events are counted.
#include <cupti_events.h>
#include <cupti_metrics.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_call.hpp"

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

void count_all_instances(CUpti_EventGroup group) {
  std::uint32_t all = 1;
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetAttribute, group,
                 CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES, sizeof all, &all);
}

// The sum over the counted instances, scaled up to all instances of the device if some cannot be counted.
std::uint64_t read_event(CUpti_EventGroup group, CUpti_EventID event, CUdevice device) {
  const auto counted = group_attribute<std::uint32_t>(group, CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT);
  const auto domain = group_attribute<CUpti_EventDomainID>(group, CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID);
  std::uint32_t total = 0;
  std::size_t bytes = sizeof total;
  HILBENCH_CUPTI(cupti_events_library(), cuptiDeviceGetEventDomainAttribute, device, domain,
                 CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT, &bytes, &total);
  std::vector<std::uint64_t> values(counted);
  bytes = values.size() * sizeof values[0];
  HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupReadEvent, group, CUPTI_EVENT_READ_FLAG_NONE, event,
                 &bytes, values.data());
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value;
  return counted == 0 ? 0 : sum * total / counted;
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
      HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetsDestroy, sets_);
    } catch (const CuptiError& error) {
      fmt::print(stderr, "hilbench: {}\n", error.what());
    }
  }
  int size() const { return static_cast<int>(sets_->numSets); }
  CUpti_EventGroupSet& operator[](int pass) const { return sets_->sets[pass]; }

 private:
  CUpti_EventGroupSets* sets_ = nullptr;
};

class EventCounters : public CuptiCounters {
 public:
  explicit EventCounters(const CounterSet& set) : set_(set) {
    guarded([this] { open(); });
  }
  int passes() const override { return failure().empty() && groups_ ? groups_->size() : 0; }

  void begin(int pass) override {
    guarded([&] {
      CUpti_EventGroupSet& groups = (*groups_)[pass];
      for (std::uint32_t i = 0; i < groups.numEventGroups; ++i) count_all_instances(groups.eventGroups[i]);
      HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetEnable, &groups);
      began_ = Clock::now();
    });
  }

  void end(int pass) override {
    guarded([&] {
      if (const int status = CudaDriver::get().synchronize(); status != 0)
        throw CuptiError(fmt::format("the work that was counted failed: cuCtxSynchronize gives {}", status));
      duration_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - began_).count());
      CUpti_EventGroupSet& groups = (*groups_)[pass];
      for (std::uint32_t i = 0; i < groups.numEventGroups; ++i)
        for (const CUpti_EventID event : events_of(groups.eventGroups[i])) {
          events_.push_back(event);
          values_.push_back(read_event(groups.eventGroups[i], event, CudaDriver::get().device()));
        }
      HILBENCH_CUPTI(cupti_events_library(), cuptiEventGroupSetDisable, &groups);
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
    if (!cupti_events_library())
      throw CuptiError(fmt::format("{}; install the CUPTI of CUDA 12 or put it on LD_LIBRARY_PATH",
                                   cupti_events_library().why()));
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
    const auto find =
        cupti_events_library().find<decltype(cuptiMetricGetIdFromName)>("cuptiMetricGetIdFromName");
    CUpti_MetricID id = 0;
    const CUptiResult status = find ? find(device, name.c_str(), &id) : CUPTI_ERROR_NOT_SUPPORTED;
    if (status == CUPTI_ERROR_INVALID_METRIC_NAME) return std::nullopt;
    if (status != CUPTI_SUCCESS) throw CuptiError(cupti_failure("cuptiMetricGetIdFromName", status));
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
      return finite(number(*metrics_[i], value));
    } catch (const CuptiError& error) {
      return {.reason = error.what()};
    }
  }

  CounterSet set_;
  std::vector<std::optional<CUpti_MetricID>> metrics_;  // of each event of the set
  std::optional<GroupSets> groups_;
  std::vector<CUpti_EventID> events_;  // the counted events, with their
  std::vector<std::uint64_t> values_;
  Clock::time_point began_;
  std::uint64_t duration_ns_ = 0;  // of the last pass
};

}  // namespace

std::unique_ptr<CounterBackend> open_cupti_events(const CounterSet& set) {
  return std::make_unique<EventCounters>(set);
}

}  // namespace hilbench
