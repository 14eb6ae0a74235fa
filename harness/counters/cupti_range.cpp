// CUPTI's Range Profiler. One user range, named after the set, is measured in as many passes as its
// metrics need. A pass is Start/PushRange .. PopRange/Stop around one execution, which the caller repeats
// (user replay). Several devices of a process may be counted at the same time, each by the thread that
// has its context.
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_call.hpp"
#include "harness/counters/cupti_host.hpp"

namespace hilbench {
namespace {

constexpr const char* kRange = "hilbench";

const LoadedLibrary& library() {
  return cupti_range_library();
}

void initialize_profiler() {
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
  HILBENCH_CUPTI(library(), cuptiProfilerInitialize, &params);
}

std::string chip_name(int device) {
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  params.deviceIndex = static_cast<std::size_t>(device);
  HILBENCH_CUPTI(library(), cuptiDeviceGetChipName, &params);
  return params.pChipName;
}

// The counters that the device offers to this user now.
std::vector<std::uint8_t> counter_availability(void* context) {
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = static_cast<CUcontext>(context);
  HILBENCH_CUPTI(library(), cuptiProfilerGetCounterAvailability, &params);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  HILBENCH_CUPTI(library(), cuptiProfilerGetCounterAvailability, &params);
  return image;
}

// Owns CUPTI's profiler object on one context. Functions throw CuptiError; the destructor prints failures.
class RangeProfiler {
 public:
  explicit RangeProfiler(void* context) {
    auto params = HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    params.ctx = static_cast<CUcontext>(context);
    HILBENCH_CUPTI(library(), cuptiRangeProfilerEnable, &params);
    object_ = params.pRangeProfilerObject;
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler() {
    try {
      if (started_) end();
      auto params = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params));
      HILBENCH_CUPTI(library(), cuptiRangeProfilerDisable, &params);
    } catch (const CuptiError& error) {
      fmt::print(stderr, "hilbench: {}\n", error.what());
    }
  }

  // Prepares the first pass. `config` must live as long as this object and be the same in all calls.
  void configure(const std::vector<std::uint8_t>& config, std::vector<const char*> metrics) {
    complete_ = false;
    auto size = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params));
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    HILBENCH_CUPTI(library(), cuptiRangeProfilerGetCounterDataSize, &size);
    counter_data_.resize(size.counterDataSize);

    auto image = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params));
    image.counterDataSize = counter_data_.size();
    image.pCounterData = counter_data_.data();
    HILBENCH_CUPTI(library(), cuptiRangeProfilerCounterDataImageInitialize, &image);

    auto set = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params));
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = counter_data_.size();
    set.pCounterDataImage = counter_data_.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    HILBENCH_CUPTI(library(), cuptiRangeProfilerSetConfig, &set);
  }

  void begin() {
    auto start = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params));
    HILBENCH_CUPTI(library(), cuptiRangeProfilerStart, &start);
    started_ = true;
    auto push = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params));
    push.pRangeName = kRange;
    HILBENCH_CUPTI(library(), cuptiRangeProfilerPushRange, &push);
  }

  void end() {
    started_ = false;
    auto pop = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params));
    HILBENCH_CUPTI(library(), cuptiRangeProfilerPopRange, &pop);
    if (const int status = CudaDriver::get().synchronize(); status != 0)
      throw CuptiError(fmt::format("the work that was counted failed: cuCtxSynchronize gives {}", status));
    auto stop = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params));
    HILBENCH_CUPTI(library(), cuptiRangeProfilerStop, &stop);
    complete_ = stop.isAllPassSubmitted != 0;
  }

  bool complete() const { return complete_; }  // all passes ran

  const std::vector<std::uint8_t>& decode() {
    if (!complete_) throw CuptiError("CUPTI needs more passes than it announced");
    auto params = with_object(HILBENCH_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params));
    HILBENCH_CUPTI(library(), cuptiRangeProfilerDecodeData, &params);
    if (params.numOfRangeDropped != 0) throw CuptiError("CUPTI dropped the range that was counted");
    return counter_data_;
  }

 private:
  template <class Params>
  Params with_object(Params params) const {
    params.pRangeProfilerObject = object_;
    return params;
  }

  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> counter_data_;
  bool started_ = false;
  bool complete_ = false;
};

// A profiling session for the metrics of one set on one context. The constructor throws CuptiError.
class Session {
 public:
  Session(const CounterSet& set, const CudaDriver& driver) : context_(driver.context()) {
    initialize_profiler();
    const std::string chip = chip_name(driver.device());
    availability_ = counter_availability(context_);
    host_.emplace(chip, availability_.data());
    for (const CounterEvent& event : set.events) names_.push_back(event.event);
    for (const std::string& name : names_) {
      known_.push_back(host_->has(name));
      if (known_.back()) metrics_.push_back(name.c_str());
    }
    if (metrics_.empty()) throw CuptiError(fmt::format("{} has none of the metrics of this set", chip));
    schedule(chip);
    profiler_.emplace(context_);
  }

  void* context() const { return context_; }
  bool serves(const CounterSet& set) const {
    const auto same = [](const CounterEvent& event, const std::string& name) { return event.event == name; };
    return std::equal(set.events.begin(), set.events.end(), names_.begin(), names_.end(), same);
  }
  int passes() const { return host_->passes(); }
  void configure() { profiler_->configure(host_->config(), metrics_); }
  RangeProfiler& profiler() { return *profiler_; }

  // One value for each event of the set; nothing if the chip lacks it.
  std::vector<std::optional<double>> evaluate() {
    const std::vector<double> values = host_->evaluate(profiler_->decode(), metrics_);
    std::vector<std::optional<double>> counts;
    std::size_t next = 0;
    for (const bool known : known_) counts.push_back(known ? std::optional(values[next++]) : std::nullopt);
    return counts;
  }

 private:
  void schedule(const std::string& chip) {
    try {
      host_->schedule(metrics_);
    } catch (const CuptiError& error) {
      throw CuptiError(fmt::format(
          "{}; {} has these metrics, but this device does not offer all of them: a virtual machine "
          "may withhold some, such as those of NVLink",
          error.what(), chip));
    }
  }

  void* context_;
  std::vector<std::uint8_t> availability_;
  std::vector<std::string> names_;  // metrics of the set
  std::vector<bool> known_;         // for each: the chip has it
  std::vector<const char*> metrics_;
  std::optional<CuptiHost> host_;
  std::optional<RangeProfiler> profiler_;
};

// What this process is counting, by context. One thread at a time calls CUPTI.
struct Counting {
  std::mutex mutex;
  std::set<void*> contexts;  // those with a count in progress: at most one in each context
  // The sessions that counted last, kept for the next count of their sets: opening one takes a third of a
  // second, reusing one a quarter of that.
  std::map<void*, std::unique_ptr<Session>> kept;
};
// Never destroyed: at the end of the process CUPTI may be unloaded before static objects are destroyed.
Counting& counting() {
  static auto* state = new Counting();
  return *state;
}

class RangeCounters : public CuptiCounters {
 public:
  explicit RangeCounters(const CounterSet& set) : set_(set) {
    alone([this] { open(); });
  }
  ~RangeCounters() override {
    if (!session_) return;
    const std::lock_guard lock(counting().mutex);
    counting().contexts.erase(session_->context());
    if (failure().empty() && session_->profiler().complete())
      counting().kept[session_->context()] = std::move(session_);
    else
      session_.reset();
  }
  int passes() const override { return failure().empty() ? session_->passes() : 0; }
  void begin(int) override {
    alone([this] { session_->profiler().begin(); });
  }
  void end(int) override {
    alone([this] { session_->profiler().end(); });
  }
  RawCounts read() override {
    std::vector<std::optional<double>> values(set_.events.size());
    alone([&] { values = session_->evaluate(); });
    RawCounts counts;
    for (std::size_t i = 0; i < set_.events.size(); ++i) counts[set_.events[i].name] = count(i, values[i]);
    return counts;
  }

 private:
  template <class Step>
  void alone(Step step) {
    const std::lock_guard lock(counting().mutex);
    guarded(step);
  }

  void open() {
    const CudaDriver& driver = in_use_driver();
    require_countable(find_cupti_range());
    void* const context = driver.context();
    if (counting().contexts.count(context) != 0)
      throw CuptiError("this process already counts on this device");
    std::unique_ptr<Session> session = std::move(counting().kept[context]);
    if (session && !session->serves(set_)) session.reset();
    if (!session) session = std::make_unique<Session>(set_, driver);
    session->configure();
    session_ = std::move(session);
    counting().contexts.insert(context);
  }

  RawCount count(std::size_t i, std::optional<double> value) const {
    if (!failure().empty()) return {.reason = failure()};
    if (!value) return {.reason = fmt::format("this chip has no metric {}", set_.events[i].event)};
    return finite(*value);
  }

  CounterSet set_;
  std::unique_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<CounterBackend> open_cupti_range(const CounterSet& set) {
  return std::make_unique<RangeCounters>(set);
}

void close_cupti_range() {
  const std::lock_guard lock(counting().mutex);
  counting().kept.clear();
}

}  // namespace hilbench
