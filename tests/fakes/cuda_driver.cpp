// A fake libcuda.so.1. cuInit returns HILBENCH_STUB_INIT (default 100: no device), the driver has CUDA
// version HILBENCH_STUB_VERSION (default 13000), and loading it creates the file HILBENCH_STUB_LOADED.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

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
  *count = 0;
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
  *context = nullptr;
  return 0;
}
int cuCtxGetDevice(int*) {
  return kNotFound;
}
int cuDeviceGetAttribute(int*, int, int) {
  return kNotFound;
}
int cuDevicePrimaryCtxRetain(void**, int) {
  return kNotFound;
}
int cuCtxSetCurrent(void*) {
  return kNotFound;
}
int cuCtxSynchronize() {
  return kNotFound;
}

}  // extern "C"
