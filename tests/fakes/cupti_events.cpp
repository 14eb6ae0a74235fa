// A libcupti of the Event and Metric APIs, on a fake chip of Pascal's kind. It follows NVIDIA's documentation
// of the functions that the program calls, their order included: what is used too early or twice is refused.
//
// The chip: three domains, of which the multiprocessors' counts 5 of 20 instances. An event counts a fixed
// number on its first instance, twice that on the second, and so on. A domain counts two events at a time, so
// metrics of more are counted in several passes.
//
// Variables: HILBENCH_STUB_CUPTI faults, "function=status", or "function=status@3" for its third call, with
// commas between; HILBENCH_STUB_CUPTI_VERSION its version (28: CUDA 12.9); HILBENCH_STUB_INSTANCES how many
// multiprocessors can be counted (5); HILBENCH_STUB_EVENTS a factor of all events (1); HILBENCH_STUB_VALUE
// what the first instance of every event reads in place of that; HILBENCH_STUB_SHORT_READ 1: a read leaves
// out an instance.
#include <cupti_events.h>
#include <cupti_metrics.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/pascal_chip.hpp"

namespace {

using namespace hilbench::fake;

constexpr CUptiResult kOk = CUPTI_SUCCESS;

// What HILBENCH_STUB_CUPTI says of this call of `function`. Calls are counted from when it was set.
CUptiResult fault(const std::string& function) {
  static std::string faults;
  static std::map<std::string, int> calls;
  const char* text = std::getenv("HILBENCH_STUB_CUPTI");
  if (text == nullptr) return kOk;
  if (std::exchange(faults, text) != text) calls.clear();
  const int call = ++calls[function];
  const char* at = std::strstr(text, (function + "=").c_str());
  if (at == nullptr) return kOk;
  char* end = nullptr;
  const long status = std::strtol(at + function.size() + 1, &end, 10);
  if (*end == '@' && std::atoi(end + 1) != call) return kOk;
  return static_cast<CUptiResult>(status);
}

// One group counts events of one domain.
struct Group {
  CUpti_EventDomainID domain;
  std::vector<CUpti_EventID> events;
  bool all_instances = false;
  bool enabled = false;
};
constexpr std::size_t kEventsOfAGroup = 2;
struct Sets {
  CUpti_EventGroupSets listed{};
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<std::vector<CUpti_EventGroup>> pointers;  // of each pass
  std::vector<CUpti_EventGroupSet> sets;
};

bool counts_kernels = false;  // the collection mode
std::vector<Sets*> alive;

Group& group_of(CUpti_EventGroup handle) {
  return *static_cast<Group*>(handle);
}

// An answer of `bytes` bytes if the caller has room for them.
CUptiResult answer(const void* from, std::size_t bytes, std::size_t* room, void* to) {
  if (*room < bytes) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  std::memcpy(to, from, bytes);
  *room = bytes;
  return kOk;
}
template <class Value>
CUptiResult answer(Value value, std::size_t* room, void* to) {
  return answer(&value, sizeof value, room, to);
}

std::uint32_t counted_by(const Group& group) {
  return group.all_instances ? instances_of(group.domain).counted : 1;
}

Sets* make_sets(const std::vector<CUpti_EventID>& wanted) {
  auto made = std::make_unique<Sets>();
  std::map<CUpti_EventDomainID, std::size_t> placed;  // events of a domain
  for (const CUpti_EventID event : wanted) {
    const CUpti_EventDomainID domain = kEvents.at(event).domain;
    const std::size_t before = placed[domain]++, pass = before / kEventsOfAGroup;
    if (pass >= made->pointers.size()) made->pointers.resize(pass + 1);
    if (before % kEventsOfAGroup == 0) {
      made->groups.push_back(std::make_unique<Group>(Group{.domain = domain, .events = {}}));
      made->pointers[pass].push_back(made->groups.back().get());
    }
    for (const CUpti_EventGroup group : made->pointers[pass])
      if (group_of(group).domain == domain) group_of(group).events.push_back(event);
  }
  for (std::vector<CUpti_EventGroup>& of_pass : made->pointers)
    made->sets.push_back({static_cast<std::uint32_t>(of_pass.size()), of_pass.data()});
  made->listed = {static_cast<std::uint32_t>(made->sets.size()), made->sets.data()};
  alive.push_back(made.get());
  return made.release();
}

CUptiResult switch_groups(CUpti_EventGroupSet* set, bool on) {
  for (std::uint32_t i = 0; i < set->numEventGroups; ++i)
    if (group_of(set->eventGroups[i]).enabled == on) return CUPTI_ERROR_INVALID_OPERATION;
  for (std::uint32_t i = 0; i < set->numEventGroups; ++i) group_of(set->eventGroups[i]).enabled = on;
  return kOk;
}

std::vector<std::uint64_t> read(const Group& group, CUpti_EventID event) {
  std::vector<std::uint64_t> values(counted_by(group));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = number("HILBENCH_STUB_EVENTS", 1) * kEvents.at(event).first * (i + 1);
  if (!values.empty()) values[0] = number("HILBENCH_STUB_VALUE", values[0]);
  if (number("HILBENCH_STUB_SHORT_READ", 0) != 0) values.pop_back();
  return values;
}

}  // namespace

#define HILBENCH_FAULT_OF_THIS_CALL \
  if (const CUptiResult status = fault(__func__); status != kOk) return status

extern "C" {

int hilbench_fake() {
  return 1;
}

// How many sets of groups the program has not destroyed, and how many groups still count.
int hilbench_fake_left() {
  std::size_t left = alive.size();
  for (const Sets* sets : alive)
    left += static_cast<std::size_t>(std::count_if(sets->groups.begin(), sets->groups.end(),
                                                   [](const auto& group) { return group->enabled; }));
  return static_cast<int>(left);
}

CUptiResult CUPTIAPI cuptiGetVersion(std::uint32_t* version) {
  HILBENCH_FAULT_OF_THIS_CALL;
  *version = static_cast<std::uint32_t>(number("HILBENCH_STUB_CUPTI_VERSION", 28));
  return kOk;
}

CUptiResult CUPTIAPI cuptiSetEventCollectionMode(CUcontext context, CUpti_EventCollectionMode mode) {
  HILBENCH_FAULT_OF_THIS_CALL;
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  counts_kernels = mode == CUPTI_EVENT_COLLECTION_MODE_KERNEL;
  return kOk;
}

CUptiResult CUPTIAPI cuptiMetricGetIdFromName(CUdevice, const char* name, CUpti_MetricID* id) {
  HILBENCH_FAULT_OF_THIS_CALL;
  for (const Metric& metric : metrics())
    if (metric.name == name) {
      *id = static_cast<CUpti_MetricID>(&metric - metrics().data()) + 1;
      return kOk;
    }
  return CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult CUPTIAPI cuptiMetricGetNumEvents(CUpti_MetricID id, std::uint32_t* count) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Metric* metric = metric_of(id);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_ID;
  *count = static_cast<std::uint32_t>(metric->events.size());
  return kOk;
}

CUptiResult CUPTIAPI cuptiMetricEnumEvents(CUpti_MetricID id, std::size_t* room, CUpti_EventID* events) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Metric* metric = metric_of(id);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_ID;
  return answer(metric->events.data(), metric->events.size() * sizeof(CUpti_EventID), room, events);
}

CUptiResult CUPTIAPI cuptiMetricGetAttribute(CUpti_MetricID id, CUpti_MetricAttribute attribute,
                                             std::size_t* room, void* value) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Metric* metric = metric_of(id);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_ID;
  if (attribute != CUPTI_METRIC_ATTR_VALUE_KIND) return CUPTI_ERROR_INVALID_PARAMETER;
  return answer(metric->kind, room, value);
}

CUptiResult CUPTIAPI cuptiMetricCreateEventGroupSets(CUcontext context, std::size_t bytes,
                                                     CUpti_MetricID* ids, CUpti_EventGroupSets** sets) {
  HILBENCH_FAULT_OF_THIS_CALL;
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  std::vector<CUpti_EventID> wanted;
  for (std::size_t i = 0; i < bytes / sizeof *ids; ++i) {
    const Metric* metric = metric_of(ids[i]);
    if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_ID;
    for (const CUpti_EventID event : metric->events)
      if (std::find(wanted.begin(), wanted.end(), event) == wanted.end()) wanted.push_back(event);
  }
  *sets = &make_sets(wanted)->listed;
  return kOk;
}

CUptiResult CUPTIAPI cuptiEventGroupSetsDestroy(CUpti_EventGroupSets* listed) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const auto found =
      std::find_if(alive.begin(), alive.end(), [&](const Sets* sets) { return &sets->listed == listed; });
  if (found == alive.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  for (const auto& group : (*found)->groups)
    if (group->enabled) return CUPTI_ERROR_INVALID_OPERATION;
  delete *found;
  alive.erase(found);
  return kOk;
}

CUptiResult CUPTIAPI cuptiEventGroupSetAttribute(CUpti_EventGroup group, CUpti_EventGroupAttribute attribute,
                                                 std::size_t bytes, void* value) {
  HILBENCH_FAULT_OF_THIS_CALL;
  std::uint32_t all = 0;
  if (attribute != CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES || bytes != sizeof all)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (group_of(group).enabled) return CUPTI_ERROR_INVALID_OPERATION;
  std::memcpy(&all, value, sizeof all);
  group_of(group).all_instances = all != 0;
  return kOk;
}

CUptiResult CUPTIAPI cuptiEventGroupGetAttribute(CUpti_EventGroup handle, CUpti_EventGroupAttribute attribute,
                                                 std::size_t* room, void* value) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Group& group = group_of(handle);
  switch (attribute) {
    case CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID:
      return answer(group.domain, room, value);
    case CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS:
      return answer(static_cast<std::uint32_t>(group.events.size()), room, value);
    case CUPTI_EVENT_GROUP_ATTR_EVENTS:
      return answer(group.events.data(), group.events.size() * sizeof(CUpti_EventID), room, value);
    case CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT:
      return answer(counted_by(group), room, value);
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

CUptiResult CUPTIAPI cuptiDeviceGetEventDomainAttribute(CUdevice, CUpti_EventDomainID domain,
                                                        CUpti_EventDomainAttribute attribute,
                                                        std::size_t* room, void* value) {
  HILBENCH_FAULT_OF_THIS_CALL;
  if (attribute != CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT) return CUPTI_ERROR_INVALID_PARAMETER;
  return answer(instances_of(domain).total, room, value);
}

CUptiResult CUPTIAPI cuptiEventGroupSetEnable(CUpti_EventGroupSet* set) {
  HILBENCH_FAULT_OF_THIS_CALL;
  if (!counts_kernels) return CUPTI_ERROR_NOT_COMPATIBLE;
  return switch_groups(set, true);
}

CUptiResult CUPTIAPI cuptiEventGroupSetDisable(CUpti_EventGroupSet* set) {
  HILBENCH_FAULT_OF_THIS_CALL;
  return switch_groups(set, false);
}

CUptiResult CUPTIAPI cuptiEventGroupReadEvent(CUpti_EventGroup handle, CUpti_ReadEventFlags,
                                              CUpti_EventID event, std::size_t* room, std::uint64_t* values) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Group& group = group_of(handle);
  if (!group.enabled) return CUPTI_ERROR_INVALID_OPERATION;
  if (std::find(group.events.begin(), group.events.end(), event) == group.events.end())
    return CUPTI_ERROR_INVALID_EVENT_ID;
  const std::vector<std::uint64_t> counted = read(group, event);
  return answer(counted.data(), counted.size() * sizeof(std::uint64_t), room, values);
}

CUptiResult CUPTIAPI cuptiMetricGetValue(CUdevice, CUpti_MetricID id, std::size_t event_bytes,
                                         CUpti_EventID* events, std::size_t, std::uint64_t* values,
                                         std::uint64_t time_ns, CUpti_MetricValue* value) {
  HILBENCH_FAULT_OF_THIS_CALL;
  const Metric* metric = metric_of(id);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_ID;
  std::vector<std::uint64_t> counts;
  const CUpti_EventID* const end = events + event_bytes / sizeof *events;
  for (const CUpti_EventID event : metric->events) {
    const CUpti_EventID* const found = std::find(events, const_cast<CUpti_EventID*>(end), event);
    if (found == end) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    counts.push_back(values[found - events]);
  }
  *value = metric->value(counts, time_ns);
  return kOk;
}

}  // extern "C"
