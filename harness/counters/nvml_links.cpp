// Traffic over a GPU's NVLinks, from the counts that the driver keeps for NVML: the count after the work less
// the count before it.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "kernels/machine/nvml.hpp"

namespace hilbench {
namespace {

using Handle = NvmlHandle;
struct FieldValue {  // nvmlFieldValue_t
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency_us = 0;
  unsigned type = 0;
  int status = 0;
  union {
    double real;
    unsigned word;
    unsigned long long whole = 0;
  };
};
constexpr unsigned kAllLinks = 0xffffffff;  // as a field's scope
constexpr unsigned kDouble = 0, kWord = 1;  // types
constexpr double kCountedBytes = 1024;

struct Field {
  std::string_view event;
  unsigned number;  // NVML_FI_DEV_NVLINK_THROUGHPUT_...
};
constexpr std::array<Field, 4> kFields = {
    {{"data_sent", 138}, {"data_received", 139}, {"raw_sent", 140}, {"raw_received", 141}}};

std::optional<unsigned> field_of(std::string_view event) {
  for (const Field& field : kFields)
    if (field.event == event) return field.number;
  return std::nullopt;
}

struct Queries {
  std::string absence = Nvml::get().absence();
  int (*handle_at)(const char*,
                   Handle*) = Nvml::get().find<int(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  int (*read)(Handle, int,
              FieldValue*) = Nvml::get().find<int(Handle, int, FieldValue*)>("nvmlDeviceGetFieldValues");

  Queries() {
    if (absence.empty() && (handle_at == nullptr || read == nullptr))
      absence = "this driver's NVML cannot read field values; install a newer driver";
  }
};

const Queries& nvml() {
  static const Queries queries;
  return queries;
}

RawCount bytes(const FieldValue& value) {
  if (value.status == kNvmlNotSupported)
    return {.reason =
                "the driver counts no NVLink traffic of this GPU: it has no links, or is a slice (MIG)"};
  if (value.status != 0)
    return {.reason = fmt::format("nvmlDeviceGetFieldValues gives NVML error {} for field {}", value.status,
                                  value.field)};
  const double counted = value.type == kDouble ? value.real
                         : value.type == kWord ? static_cast<double>(value.word)
                                               : static_cast<double>(value.whole);
  return {.value = kCountedBytes * counted};
}

class LinkCounters : public CounterBackend {
 public:
  explicit LinkCounters(const CounterSet& set) : set_(set) {
    const CudaDriver& driver = CudaDriver::get();
    if (!driver.unavailable().empty())
      failure_ = driver.unavailable();
    else if (!nvml().absence.empty())
      failure_ = nvml().absence;
    else if (const std::string place = driver.pci_bus_id(); place.empty())
      failure_ = "no CUDA device is in use by this thread";
    else if (const int status = nvml().handle_at(place.c_str(), &handle_); status != 0)
      failure_ = fmt::format("nvmlDeviceGetHandleByPciBusId_v2 gives NVML error {} for {}", status, place);
  }

  int passes() const override { return failure_.empty() ? 1 : 0; }
  void begin(int) override { before_ = values(); }
  void end(int) override {
    if (const int status = CudaDriver::get().synchronize(); status != 0)
      failure_ = fmt::format("the work that was counted failed: cuCtxSynchronize gives {}", status);
    after_ = values();
  }

  RawCounts read() override {
    RawCounts counts;
    for (std::size_t i = 0; i < set_.events.size(); ++i) counts[set_.events[i].name] = difference(i);
    return counts;
  }

 private:
  // One value for each event of the set.
  std::vector<RawCount> values() {
    std::vector<FieldValue> fields(set_.events.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i].field = field_of(set_.events[i].event).value_or(0);
      fields[i].scope = kAllLinks;
    }
    if (failure_.empty())
      if (const int status = nvml().read(handle_, static_cast<int>(fields.size()), fields.data());
          status != 0)
        failure_ = fmt::format("nvmlDeviceGetFieldValues gives NVML error {}", status);
    std::vector<RawCount> counts;
    for (const FieldValue& field : fields) counts.push_back(bytes(field));
    return counts;
  }

  RawCount difference(std::size_t event) const {
    if (!failure_.empty()) return {.reason = failure_};
    if (after_.empty()) return {.reason = "nothing was counted"};
    for (const auto* side : {&before_, &after_})
      if (!(*side)[event].value) return (*side)[event];
    if (*after_[event].value < *before_[event].value)
      return {.reason = "the driver's count went down during the work"};
    return {.value = *after_[event].value - *before_[event].value};
  }

  const CounterSet set_;
  Handle handle_ = nullptr;
  std::string failure_;
  std::vector<RawCount> before_, after_;
};

}  // namespace

std::unique_ptr<CounterBackend> open_nvml_links(const CounterSet& set) {
  return std::make_unique<LinkCounters>(set);
}

}  // namespace hilbench
