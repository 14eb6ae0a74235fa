#include "harness/device/nvml.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "kernels/machine/nvml.hpp"

namespace hilbench {
namespace {

// NVML API Reference, "Device Queries".
using Handle = NvmlHandle;
struct ProcessInfo {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
// "GPM Functions": two samples of counters, and metrics from their difference.
using GpmSample = struct nvmlGpmSample_st*;
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned id;
  int status;
  double value;
  const char *short_name, *long_name, *unit;
};
struct GpmRequest {  // nvmlGpmMetricsGet_t; its list of metrics is longer
  unsigned version, count;
  GpmSample before, after;
  std::array<GpmMetric, 512> metrics;
};
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version, supported;
};
constexpr unsigned kGpmVersion = 1;
constexpr unsigned kGraphicsUtilisation = 1;  // percent of the time that any work was on the GPU
constexpr unsigned kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

struct Reason {
  unsigned long long bit;
  std::string_view name;
};
// nvmlClocksEventReason...; idle clocks and application clocks set by the user do not count as throttling.
constexpr std::array<Reason, 6> kReasons = {{{0x04, "power cap"},
                                             {0x08, "hardware slowdown"},
                                             {0x20, "software thermal"},
                                             {0x40, "hardware thermal"},
                                             {0x80, "power brake"},
                                             {0x10, "sync boost"}}};

struct Queries {
  std::string absence = Nvml::get().absence();

  template <class Function>
  static Function* optional(const char* symbol) {
    return Nvml::get().find<Function>(symbol);
  }

  template <class Function>
  Function* find(const char* symbol) {
    Function* found = optional<Function>(symbol);
    if (found == nullptr && absence.empty()) absence = fmt::format("NVML has no {}", symbol);
    return found;
  }

  int (*handle_of)(const char*, Handle*) = find<int(const char*, Handle*)>("nvmlDeviceGetHandleByUUID");
  int (*clock)(Handle, unsigned,
               unsigned*) = find<int(Handle, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  int (*temperature)(Handle, unsigned,
                     unsigned*) = find<int(Handle, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  int (*power)(Handle, unsigned*) = find<int(Handle, unsigned*)>("nvmlDeviceGetPowerUsage");
  int (*throttle)(Handle, unsigned long long*) =
      find<int(Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  int (*processes)(Handle, unsigned*, ProcessInfo*) =
      find<int(Handle, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  // Missing in drivers that have no MIG.
  int (*is_slice)(Handle, unsigned*) = optional<int(Handle, unsigned*)>("nvmlDeviceIsMigDeviceHandle");
  int (*whole_of)(Handle,
                  Handle*) = optional<int(Handle, Handle*)>("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  // Optional: settings of the GPU that records hold if the driver gives them.
  int (*power_limit)(Handle, unsigned*) = optional<int(Handle, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  int (*ecc)(Handle, unsigned*,
             unsigned*) = optional<int(Handle, unsigned*, unsigned*)>("nvmlDeviceGetEccMode");
  // In drivers since Volta.
  int (*millijoules)(Handle, unsigned long long*) =
      optional<int(Handle, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  // In drivers since Hopper.
  int (*gpm_support)(Handle, GpmSupport*) = optional<int(Handle, GpmSupport*)>("nvmlGpmQueryDeviceSupport");
  int (*gpm_allocate)(GpmSample*) = optional<int(GpmSample*)>("nvmlGpmSampleAlloc");
  int (*gpm_free)(GpmSample) = optional<int(GpmSample)>("nvmlGpmSampleFree");
  int (*gpm_sample)(Handle, GpmSample) = optional<int(Handle, GpmSample)>("nvmlGpmSampleGet");
  int (*gpm_metrics)(GpmRequest*) = optional<int(GpmRequest*)>("nvmlGpmMetricsGet");
  bool has_gpm() const {
    return gpm_support != nullptr && gpm_allocate != nullptr && gpm_free != nullptr &&
           gpm_sample != nullptr && gpm_metrics != nullptr;
  }
};

const Queries& nvml() {
  static const Queries queries;
  return queries;
}

pid_t parent_of(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

// True for this process, the process that started it, and all processes that either has started.
bool belongs_to_this_run(pid_t pid) {
  const pid_t self = ::getpid(), supervisor = ::getppid();
  for (int depth = 0; pid > 1 && depth < 16; ++depth, pid = parent_of(pid))
    if (pid == self || pid == supervisor) return true;
  return false;
}

struct Range {
  std::optional<unsigned> low, high;
  void add(unsigned value) {
    low = std::min(low.value_or(value), value);
    high = std::max(high.value_or(value), value);
  }
  nlohmann::json json(double unit) const {
    if (!low) return nullptr;
    return {*low * unit, *high * unit};
  }
};

}  // namespace

struct GpuMonitor::State {
  Handle handle = nullptr;  // the device that CUDA uses: a GPU, or a slice of one
  Handle whole = nullptr;   // the GPU
  std::string reason;
  Range sm_mhz, memory_mhz, celsius, milliwatts;
  std::set<std::string> throttle;
  std::optional<std::size_t> foreign;  // the most that were seen at once
  bool in_use_by_us = false;

  void find_whole() {
    unsigned slice = 0;
    whole = handle;
    if (nvml().is_slice != nullptr && nvml().whole_of != nullptr && nvml().is_slice(handle, &slice) == 0 &&
        slice != 0 && nvml().whole_of(handle, &whole) != 0)
      reason = "NVML does not say which GPU this slice (MIG) belongs to";
  }

  nlohmann::json settings() const {
    nlohmann::json json = {{"driver", nullptr}, {"power_limit_w", nullptr}, {"ecc", nullptr}};
    if (handle == nullptr) return json;
    unsigned milliwatt_limit = 0, now = 0, after_restart = 0;
    if (std::string version = nvml_driver_version(); !version.empty()) json["driver"] = std::move(version);
    if (nvml().power_limit != nullptr && nvml().power_limit(whole, &milliwatt_limit) == 0)
      json["power_limit_w"] = milliwatt_limit * 1e-3;
    if (nvml().ecc != nullptr && nvml().ecc(whole, &now, &after_restart) == 0) json["ecc"] = now != 0;
    return json;
  }

  void count_processes() {
    std::vector<ProcessInfo> list(256);
    auto count = static_cast<unsigned>(list.size());
    const int status = nvml().processes(handle, &count, list.data());
    if (status != 0 && status != kNvmlInsufficientSize) return;
    std::size_t others = 0;
    bool self_seen = false;
    for (unsigned i = 0; i < std::min<unsigned>(count, static_cast<unsigned>(list.size())); ++i) {
      self_seen = self_seen || list[i].pid == static_cast<unsigned>(::getpid());
      if (!belongs_to_this_run(static_cast<pid_t>(list[i].pid))) ++others;
    }
    // In a container the driver may give the process numbers of the host; one of them is then this process.
    if (in_use_by_us && !self_seen && others > 0) --others;
    foreign = std::max(foreign.value_or(0), others);
  }
};

GpuMonitor::GpuMonitor(const std::string& uuid) : state_(std::make_unique<State>()) {
  state_->reason = nvml().absence;
  if (!state_->reason.empty()) return;
  if (const int status = nvml().handle_of(uuid.c_str(), &state_->handle); status != 0) {
    state_->reason = fmt::format("NVML does not know {} (error {})", uuid, status);
    state_->handle = nullptr;
    return;
  }
  state_->find_whole();
  static std::set<std::string> used;  // GPUs on which this process still has a context
  state_->in_use_by_us = !used.insert(uuid).second;
  state_->count_processes();
  state_->in_use_by_us = true;
}

GpuMonitor::~GpuMonitor() = default;

void GpuMonitor::observe() {
  State& state = *state_;
  if (state.handle == nullptr) return;
  unsigned value = 0;
  unsigned long long reasons = 0;
  if (nvml().clock(state.whole, kClockSm, &value) == 0) state.sm_mhz.add(value);
  if (nvml().clock(state.whole, kClockMemory, &value) == 0) state.memory_mhz.add(value);
  if (nvml().temperature(state.whole, kTemperatureGpu, &value) == 0) state.celsius.add(value);
  if (nvml().power(state.whole, &value) == 0) state.milliwatts.add(value);
  if (nvml().throttle(state.whole, &reasons) == 0)
    for (const Reason& reason : kReasons)
      if ((reasons & reason.bit) != 0) state.throttle.emplace(reason.name);
  state.count_processes();
}

EnergyReading GpuMonitor::energy() const {
  const State& state = *state_;
  EnergyReading reading{.counts = {}, .source = "nvml", .reason = state.reason};
  if (!reading.reason.empty()) return reading;
  if (state.handle != state.whole) {
    reading.reason = "a slice (MIG) of a GPU has no energy counter of its own";
    return reading;
  }
  if (nvml().millijoules == nullptr) {
    reading.reason = "this driver has no energy counter (nvmlDeviceGetTotalEnergyConsumption)";
    return reading;
  }
  unsigned long long millijoules = 0;
  const int status = nvml().millijoules(state.handle, &millijoules);
  if (status == kNvmlNotSupported)
    reading.reason = "this GPU has no energy counter: NVML has it for compute capability 7.0 and up";
  else if (status != 0)
    reading.reason = fmt::format("NVML does not give the energy (error {})", status);
  else
    reading.counts.push_back({.microjoules = 1000 * std::uint64_t{millijoules}});
  return reading;
}

namespace {

// One sample of the counters; null if the driver gives none.
class CounterSample {
 public:
  CounterSample() {
    if (nvml().gpm_allocate(&sample_) != 0) sample_ = nullptr;
  }
  ~CounterSample() {
    if (sample_ != nullptr) nvml().gpm_free(sample_);
  }
  CounterSample(const CounterSample&) = delete;
  CounterSample& operator=(const CounterSample&) = delete;

  bool take(Handle handle) { return sample_ != nullptr && nvml().gpm_sample(handle, sample_) == 0; }
  GpmSample get() const { return sample_; }

 private:
  GpmSample sample_ = nullptr;
};

bool counts_activity(Handle handle) {
  GpmSupport support{.version = kGpmVersion, .supported = 0};
  return nvml().has_gpm() && nvml().gpm_support(handle, &support) == 0 && support.supported != 0;
}

}  // namespace

std::optional<double> GpuMonitor::busy_share(const std::function<void()>& body) const {
  const State& state = *state_;
  if (state.handle == nullptr || state.handle != state.whole || !counts_activity(state.handle)) {
    body();
    return std::nullopt;
  }
  CounterSample before, after;
  const bool began = before.take(state.handle);
  body();
  if (!began || !after.take(state.handle)) return std::nullopt;
  const auto request = std::make_unique<GpmRequest>();
  request->version = kGpmVersion;
  request->count = 1;
  request->before = before.get();
  request->after = after.get();
  request->metrics[0].id = kGraphicsUtilisation;
  if (nvml().gpm_metrics(request.get()) != 0 || request->metrics[0].status != 0) return std::nullopt;
  return request->metrics[0].value / 100;
}

nlohmann::json GpuMonitor::summary() const {
  const State& state = *state_;
  nlohmann::json json = state.settings();
  json.update({{"sm_mhz", state.sm_mhz.json(1)},
               {"memory_mhz", state.memory_mhz.json(1)},
               {"temperature_c", state.celsius.json(1)},
               {"power_w", state.milliwatts.json(1e-3)},
               {"throttle", state.throttle},
               {"foreign_processes", nullptr},
               {"mig", nullptr},
               {"reason", nullptr}});
  if (state.handle != nullptr) json["mig"] = state.handle != state.whole;
  if (state.foreign) json["foreign_processes"] = *state.foreign;
  if (!state.reason.empty()) json["reason"] = state.reason;
  return json;
}

const std::string& nvml_absence() {
  return nvml().absence;
}

}  // namespace hilbench
