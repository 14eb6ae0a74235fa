#include "harness/counters/cuda_driver.hpp"

#include <fmt/format.h>

#include <array>

#include "kernels/base/process/library.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

// CUdevice_attribute of cuda.h.
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kNoDevice = 100;  // CUresult

}  // namespace

const CudaDriver& CudaDriver::get() {
  static const CudaDriver driver;
  return driver;
}

CudaDriver::CudaDriver() {
  const LoadedLibrary library({"libcuda.so.1"});
  if (!library) {
    unavailable_ =
        fmt::format("{}; install NVIDIA's driver if this machine has an NVIDIA GPU", library.why());
    return;
  }
  const auto init = library.find<int(unsigned)>("cuInit");
  const auto count_devices = library.find<int(int*)>("cuDeviceGetCount");
  get_version_ = library.find<int(int*)>("cuDriverGetVersion");
  get_context_ = library.find<int(void**)>("cuCtxGetCurrent");
  get_device_ = library.find<int(int*)>("cuCtxGetDevice");
  get_bus_id_ = library.find<int(char*, int, int)>("cuDeviceGetPCIBusId");
  get_attribute_ = library.find<int(int*, int, int)>("cuDeviceGetAttribute");
  retain_primary_ = library.find<int(void**, int)>("cuDevicePrimaryCtxRetain");
  set_context_ = library.find<int(void*)>("cuCtxSetCurrent");
  synchronize_ = library.find<int()>("cuCtxSynchronize");
  if (!init || !count_devices || !get_context_ || !get_device_ || !get_attribute_ || !retain_primary_ ||
      !set_context_ || !synchronize_) {
    unavailable_ = "libcuda.so.1 lacks the driver's functions; install NVIDIA's driver again";
    return;
  }
  int devices = 0;
  if (const int status = init(0); status != 0)
    unavailable_ = cuda_start_failure(status);
  else if (count_devices(&devices) != 0 || devices == 0)
    unavailable_ = cuda_start_failure(kNoDevice);
}

void* CudaDriver::context() const {
  void* context = nullptr;
  return unavailable_.empty() && get_context_(&context) == 0 ? context : nullptr;
}

int CudaDriver::device() const {
  int device = 0;
  return context() != nullptr && get_device_(&device) == 0 ? device : 0;
}

std::string CudaDriver::pci_bus_id() const {
  std::array<char, 32> text{};
  if (context() == nullptr || get_bus_id_ == nullptr ||
      get_bus_id_(text.data(), static_cast<int>(text.size()), device()) != 0)
    return "";
  return text.data();
}

CounterTarget CudaDriver::capability() const {
  int major = 0, minor = 0;
  if (!unavailable_.empty() || get_attribute_(&major, kCapabilityMajor, device()) != 0 ||
      get_attribute_(&minor, kCapabilityMinor, device()) != 0)
    return -1;
  return 10 * major + minor;
}

int CudaDriver::cuda_version() const {
  int version = 0;
  return get_version_ != nullptr && get_version_(&version) == 0 ? version : 0;
}

bool CudaDriver::make_context() const {
  void* primary = nullptr;
  return unavailable_.empty() &&
         (context() != nullptr || (retain_primary_(&primary, 0) == 0 && set_context_(primary) == 0));
}

int CudaDriver::synchronize() const {
  return synchronize_();
}

}  // namespace hilbench
