#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include "harness/counters/backends.hpp"

namespace hilbench {
namespace {

struct Name {
  std::string_view text;
  std::uint64_t value;
};

constexpr std::array<Name, 4> kHardware = {{{"cpu_cycles", PERF_COUNT_HW_CPU_CYCLES},
                                            {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                                            {"cache_references", PERF_COUNT_HW_CACHE_REFERENCES},
                                            {"cache_misses", PERF_COUNT_HW_CACHE_MISSES}}};
constexpr std::array<Name, 4> kSoftware = {{{"task_clock", PERF_COUNT_SW_TASK_CLOCK},
                                            {"page_faults", PERF_COUNT_SW_PAGE_FAULTS},
                                            {"context_switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
                                            {"cpu_migrations", PERF_COUNT_SW_CPU_MIGRATIONS}}};
constexpr std::array<Name, 3> kCaches = {
    {{"l1d", PERF_COUNT_HW_CACHE_L1D}, {"ll", PERF_COUNT_HW_CACHE_LL}, {"dtlb", PERF_COUNT_HW_CACHE_DTLB}}};
constexpr std::array<Name, 3> kOperations = {{{"read", PERF_COUNT_HW_CACHE_OP_READ},
                                              {"write", PERF_COUNT_HW_CACHE_OP_WRITE},
                                              {"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH}}};
constexpr std::array<Name, 2> kResults = {
    {{"access", PERF_COUNT_HW_CACHE_RESULT_ACCESS}, {"miss", PERF_COUNT_HW_CACHE_RESULT_MISS}}};

template <std::size_t size>
std::optional<std::uint64_t> lookup(const std::array<Name, size>& names, std::string_view text) {
  for (const Name& name : names)
    if (name.text == text) return name.value;
  return std::nullopt;
}

// Removes the part up to the next ':' from the front of `text` and returns it.
std::string_view next_part(std::string_view& text) {
  const std::size_t colon = text.find(':');
  const std::string_view part = text.substr(0, colon);
  text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  return part;
}

// Owns the descriptor of one event, which counts the thread that opens it.
class Descriptor {
 public:
  explicit Descriptor(const PerfEvent& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = event.in_kernel ? 0 : 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    // Counts this thread, on any processor, in no group.
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0) error_ = errno;
  }
  Descriptor(Descriptor&& other) noexcept
      : file_(std::exchange(other.file_, -1)), error_(other.error_), failed_(std::move(other.failed_)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }

  bool open() const { return file_ >= 0; }
  int error() const { return error_; }

  void control(unsigned long request) {
    if (open() && ioctl(file_, request, 0) != 0) failed_ = fmt::format("ioctl: {}", std::strerror(errno));
  }

  RawCount read() const {
    struct {
      std::uint64_t value, enabled_ns, running_ns;
    } counts{};
    if (!failed_.empty()) return {.reason = failed_};
    if (::read(file_, &counts, sizeof counts) != static_cast<ssize_t>(sizeof counts))
      return {.reason = fmt::format("read: {}", std::strerror(errno))};
    const auto value = static_cast<double>(counts.value);
    if (counts.running_ns >= counts.enabled_ns) return {.value = value};
    if (counts.running_ns == 0) return {.reason = "never counted: more events than the processor's counters"};
    const double share = static_cast<double>(counts.running_ns) / static_cast<double>(counts.enabled_ns);
    return {.value = value / share, .scaled = true};
  }

 private:
  int file_ = -1;
  int error_ = 0;
  std::string failed_;
};

// One event in every thread: their sum, or nothing if a thread has no count.
struct Counted {
  std::string name;
  std::vector<Descriptor> threads;
  std::string reason;  // why it was not opened

  RawCount sum() const {
    if (!reason.empty()) return {.reason = reason};
    RawCount total{.value = 0};
    for (const Descriptor& thread : threads) {
      const RawCount count = thread.read();
      if (!count.value) return count;
      total.value = *total.value + *count.value;
      total.scaled = total.scaled || count.scaled;
    }
    return total;
  }
};

std::string paranoid_level() {
  std::ifstream in("/proc/sys/kernel/perf_event_paranoid");
  std::string level;
  in >> level;
  return level;
}

Counted open_event(const CounterEvent& event, int threads) {
  Counted counted{.name = event.name};
  const std::optional<PerfEvent> wanted = parse_perf_event(event.event);
  if (!wanted) {
    counted.reason = fmt::format("'{}' is not a perf event", event.event);
    return counted;
  }
  counted.threads.reserve(static_cast<std::size_t>(threads));
  std::mutex mutex;  // LLVM 14's critical sections crash when ranks of a ring enter one for the first time
#pragma omp parallel num_threads(threads)
  {
    Descriptor mine(*wanted);
    const std::lock_guard lock(mutex);
    if (!mine.open()) counted.reason = perf_failure(mine.error(), paranoid_level());
    counted.threads.push_back(std::move(mine));
  }
  return counted;
}

class PerfCounters : public CounterBackend {
 public:
  PerfCounters(const CounterSet& set, int threads) {
    for (const CounterEvent& event : set.events) events_.push_back(open_event(event, threads));
  }
  int passes() const override { return 1; }
  void begin(int) override {
    control(PERF_EVENT_IOC_RESET);
    control(PERF_EVENT_IOC_ENABLE);
  }
  void end(int) override { control(PERF_EVENT_IOC_DISABLE); }
  RawCounts read() override {
    RawCounts counts;
    for (const Counted& event : events_) counts[event.name] = event.sum();
    return counts;
  }

 private:
  void control(unsigned long request) {
    for (Counted& event : events_)
      for (Descriptor& thread : event.threads) thread.control(request);
  }
  std::vector<Counted> events_;
};

}  // namespace

std::optional<PerfEvent> parse_perf_event(std::string_view text) {
  const std::string_view kind = next_part(text);
  if (kind == "hardware") {
    if (const auto config = lookup(kHardware, text)) return PerfEvent{PERF_TYPE_HARDWARE, *config};
  } else if (kind == "software") {
    const bool in_kernel = text == "context_switches" || text == "cpu_migrations";
    if (const auto config = lookup(kSoftware, text)) return PerfEvent{PERF_TYPE_SOFTWARE, *config, in_kernel};
  } else if (kind == "hw-cache") {
    const auto cache = lookup(kCaches, next_part(text));
    const auto operation = lookup(kOperations, next_part(text));
    const auto result = lookup(kResults, text);
    if (cache && operation && result)
      return PerfEvent{PERF_TYPE_HW_CACHE, *cache | (*operation << 8) | (*result << 16)};
  }
  return std::nullopt;
}

std::string perf_failure(int error, std::string_view paranoid) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this machine has no such event: virtual machines often hide the PMU";
    case EACCES:
    case EPERM:
      return fmt::format(
          "not permitted (kernel.perf_event_paranoid is {}): run `sysctl kernel.perf_event_paranoid=1` as "
          "root or grant CAP_PERFMON; in a container allow perf_event_open too",
          paranoid.empty() ? "unknown" : paranoid);
    case ENOSYS:
      return "this kernel was built without perf events";
    case EMFILE:
      return "too many open files: raise `ulimit -n`";
    default:
      return fmt::format("perf_event_open: {}", std::strerror(error));
  }
}

std::unique_ptr<CounterBackend> open_perf(const CounterSet& set, int threads) {
  return std::make_unique<PerfCounters>(set, threads);
}

}  // namespace hilbench
