// A libnvidia-ml.so.1 of one GPU in the state that the test wants. Variables: HILBENCH_STUB_NVML what
// nvmlInit gives (0); HILBENCH_STUB_MIG 1: the GPU is split, and every handle found by UUID is a slice of it;
// HILBENCH_STUB_NO_ECC 1: it has no ECC; HILBENCH_STUB_NO_ENERGY what its energy counter gives (0);
// HILBENCH_STUB_THROTTLE the throttle reasons' bits; HILBENCH_STUB_PIDS the processes on it, one after
// another with a comma between; HILBENCH_STUB_DRIVER the driver's version (580.1; empty: it gives none).
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Process {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

constexpr int kNotSupported = 3;
char whole_gpu, slice;  // their addresses are the handles

unsigned long long number(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 0;
}
bool split() {
  return number("HILBENCH_STUB_MIG") != 0;
}
// A slice has no clocks, temperature and power of its own.
template <class Value>
int of_whole(const void* gpu, Value* value, Value told) {
  if (gpu != &whole_gpu) return kNotSupported;
  *value = told;
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return static_cast<int>(number("HILBENCH_STUB_NVML"));
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  const char* driver = std::getenv("HILBENCH_STUB_DRIVER");
  if (driver == nullptr) driver = "580.1";
  if (*driver == '\0') return kNotSupported;
  std::snprintf(text, size, "%s-fake", driver);  // records with it may not be published
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** handle) {
  *handle = &whole_gpu;
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  constexpr int kNotFound = 6;
  if (std::strncmp(uuid, "GPU-", 4) != 0 && std::strncmp(uuid, "MIG-", 4) != 0) return kNotFound;
  *handle = split() ? &slice : &whole_gpu;
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* after_restart) {
  *now = *after_restart = split();
  return 0;
}
int nvmlDeviceIsMigDeviceHandle(void* handle, unsigned* is_slice) {
  *is_slice = handle == &slice;
  return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** whole) {
  *whole = &whole_gpu;
  return 0;
}
int nvmlDeviceGetClockInfo(void* handle, unsigned type, unsigned* mhz) {
  return of_whole(handle, mhz, type == 1 ? 1980u : 3201u);
}
int nvmlDeviceGetTemperature(void* handle, unsigned, unsigned* celsius) {
  return of_whole(handle, celsius, 45u);
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
  return of_whole(handle, milliwatts, 120500u);
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* millijoules) {
  if (number("HILBENCH_STUB_NO_ENERGY") != 0) return static_cast<int>(number("HILBENCH_STUB_NO_ENERGY"));
  static unsigned long long used = 1'000'000;
  return of_whole(handle, millijoules, used += 2500);
}
int nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* milliwatts) {
  return of_whole(handle, milliwatts, 700000u);
}
int nvmlDeviceGetEccMode(void* handle, unsigned* now, unsigned* after_restart) {
  if (number("HILBENCH_STUB_NO_ECC") != 0) return kNotSupported;
  *after_restart = 0;
  return of_whole(handle, now, 1u);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* reasons) {
  return of_whole(handle, reasons, number("HILBENCH_STUB_THROTTLE"));
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* list) {
  const char* text = std::getenv("HILBENCH_STUB_PIDS");
  *count = 0;
  while (text != nullptr && *text != '\0') {
    list[(*count)++] = {.pid = static_cast<unsigned>(std::atoi(text))};
    text = std::strchr(text, ',');
    if (text != nullptr) ++text;
  }
  return 0;
}

}  // extern "C"
