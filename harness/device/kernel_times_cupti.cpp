#include <cupti_activity.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "harness/counters/backends.hpp"
#include "harness/device/kernel_times.hpp"
#include "kernels/base/process/library.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMSET};

// Activity records delivered since the last reset. CUPTI delivers them on a thread of its own, but, used as
// here, only during cuptiActivityFlushAll.
struct Span {
  std::uint64_t start, end;
};
std::vector<Span> g_spans;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid);

struct Cupti {
  LoadedLibrary library{cupti_names({CUDA_VERSION / 1000})};
  std::string absence;

  template <class Function>
  Function* find(const char* symbol) {
    Function* found = library ? library.find<Function>(symbol) : nullptr;
    if (found == nullptr && absence.empty())
      absence = library ? fmt::format("{} has no {}", library.name(), symbol) : library.why();
    return found;
  }

  decltype(cuptiActivityEnable)* enable = find<decltype(cuptiActivityEnable)>("cuptiActivityEnable");
  decltype(cuptiActivityDisable)* disable = find<decltype(cuptiActivityDisable)>("cuptiActivityDisable");
  decltype(cuptiActivityFlushAll)* flush = find<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll");
  decltype(cuptiActivityGetNextRecord)* next =
      find<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
  decltype(cuptiActivityRegisterCallbacks)* register_callbacks =
      find<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks");

  Cupti() {
    if (!absence.empty()) return;
    const CUptiResult status = register_callbacks(give_buffer, take_buffer);
    if (status != CUPTI_SUCCESS) absence = cupti_failure("cuptiActivityRegisterCallbacks", status);
  }
};

Cupti& cupti() {
  static Cupti library;
  return library;
}

void note(std::uint64_t start, std::uint64_t end) {
  if (end != 0) g_spans.push_back({start, end});
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti().next(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const HILBENCH_CUPTI_KERNEL*>(record);
      note(kernel->start, kernel->end);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* copy = reinterpret_cast<const HILBENCH_CUPTI_MEMCPY*>(record);
      note(copy->start, copy->end);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto* set = reinterpret_cast<const HILBENCH_CUPTI_MEMSET*>(record);
      note(set->start, set->end);
    }
  }
  std::free(buffer);
}

void require(CUptiResult status, const char* call) {
  if (status == CUPTI_SUCCESS) return;
  throw EnvironmentError({.what = "no activity records", .why = cupti_failure(call, status)});
}

// Activity is recorded as long as an object of this class lives.
class Recording {
 public:
  Recording() {
    for (const CUpti_ActivityKind kind : kKinds) {
      const CUptiResult status = cupti().enable(kind);
      if (status != CUPTI_SUCCESS) stop();
      require(status, "cuptiActivityEnable");
      ++enabled_;
    }
  }
  ~Recording() { stop(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  void stop() {
    for (; enabled_ > 0; --enabled_)
      if (cupti().disable(kKinds[enabled_ - 1]) != CUPTI_SUCCESS)
        std::fputs("cuptiActivityDisable failed\n", stderr);
  }

  std::size_t enabled_ = 0;  // this many of kKinds, from the first
};

// The records of `body`, sorted by their start.
std::vector<Span> record(const std::function<void()>& body) {
  const Recording recording;
  require(cupti().flush(0), "cuptiActivityFlushAll");
  g_spans.clear();
  body();
  require(cupti().flush(0), "cuptiActivityFlushAll");
  std::sort(g_spans.begin(), g_spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  return g_spans;
}

// If another profiler is active, CUPTI may refuse, or accept and deliver no records. A short test shows it.
std::string try_out() {
  if (!cupti().absence.empty()) return cupti().absence;
  const cuda::DeviceMemory<std::byte> memory(1 << 20);
  try {
    const auto spans = record([&] {
      HILBENCH_CUDA(cudaMemset(memory.data(), 0, memory.size()));
      HILBENCH_CUDA(cudaDeviceSynchronize());
    });
    return spans.empty() ? "CUPTI recorded no work" : "";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

}  // namespace

const std::string& kernel_times_absence() {
  static const std::string absence = try_out();
  return absence;
}

double kernel_time_ns(const std::function<void()>& body) {
  if (!kernel_times_absence().empty())
    throw EnvironmentError({.what = "no activity records", .why = kernel_times_absence()});
  const std::vector<Span> spans = record(body);
  if (spans.size() < 2) throw EnvironmentError({.what = "CUPTI recorded no kernel"});
  std::uint64_t end = 0;
  for (std::size_t i = 1; i < spans.size(); ++i) end = std::max(end, spans[i].end);
  return static_cast<double>(end - spans[1].start);
}

}  // namespace hilbench
