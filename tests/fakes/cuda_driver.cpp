// A fake libcuda.so.1. Variables: HILBENCH_STUB_INIT what cuInit gives (100: no device);
// HILBENCH_STUB_VERSION the CUDA version of the driver (13000); HILBENCH_STUB_DEVICES its GPUs (0), which
// have contexts and names but run nothing, of compute capability HILBENCH_STUB_CAPABILITY (61);
// HILBENCH_STUB_SYNC what cuCtxSynchronize gives (0). Loading it creates the file HILBENCH_STUB_LOADED.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

[[gnu::constructor]] void tell_that_it_is_loaded() {
  const char* file = std::getenv("HILBENCH_STUB_LOADED");
  if (file == nullptr) return;
  if (std::FILE* made = std::fopen(file, "w")) std::fclose(made);
}

constexpr int kNotFound = 500;  // CUDA_ERROR_NOT_FOUND

int devices() {
  return number("HILBENCH_STUB_DEVICES", 0);
}

char primary;                                 // its address is the primary context of every device
thread_local void* in_use = nullptr;          // the context of this thread
constexpr const char kName[] = "a fake GPU";  // records with it may not be published

int refuse() {
  return kNotFound;
}

void* address_of(const char* name) {
  Dl_info here{};
  ::dladdr(reinterpret_cast<void*>(&refuse), &here);
  void* self = ::dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void* function = ::dlsym(self, name);
  return function != nullptr ? function : reinterpret_cast<void*>(&refuse);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  return number("HILBENCH_STUB_INIT", 100);
}
int cuDriverGetVersion(int* version) {
  *version = number("HILBENCH_STUB_VERSION", 13000);
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = devices();
  return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "%s", kName);
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int bytes, int) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:01:00.0");
  return 0;
}
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return kNotFound;
}
// The runtime asks for functions by name. It gets those below; for every other name it gets one that fails.
int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* found) {
  *function = address_of(name);
  if (found != nullptr) *found = 0;
  return 0;
}
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
int cuCtxGetCurrent(void** context) {
  *context = in_use;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return in_use != nullptr ? 0 : kNotFound;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMajor = 75, kMinor = 76;  // CUdevice_attribute
  const int capability = number("HILBENCH_STUB_CAPABILITY", 61);
  *value = attribute == kMajor ? capability / 10 : capability % 10;
  return devices() > 0 && (attribute == kMajor || attribute == kMinor) ? 0 : kNotFound;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &primary;
  return devices() > 0 ? 0 : kNotFound;
}
int cuCtxSetCurrent(void* context) {
  in_use = context;
  return 0;
}
int cuCtxSynchronize() {
  return number("HILBENCH_STUB_SYNC", 0);
}

}  // extern "C"
