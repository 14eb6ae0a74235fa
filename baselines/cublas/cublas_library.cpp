#include "baselines/cublas/cublas_library.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "kernels/base/process/library.hpp"

namespace hilbench {
namespace {

Cublas load() {
  Cublas loaded;
  const LoadedLibrary library(toolkit_names(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR)));
  if (!library) {
    loaded.absence = fmt::format(
        "{}; install cuBLAS of the CUDA version of this build, or set LD_LIBRARY_PATH", library.why());
    return loaded;
  }
  const auto find = [&](const char* name, auto& function) {
    function = library.find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (function == nullptr && loaded.absence.empty())
      loaded.absence = fmt::format("cuBLAS lacks {}: it is older than the toolkit of this build", name);
  };
  find("cublasCreate_v2", loaded.create);
  find("cublasDestroy_v2", loaded.destroy);
  find("cublasGetProperty", loaded.property);
  find("cublasGetStatusString", loaded.status_text);
  find("cublasGemmStridedBatchedEx", loaded.gemm);
  return loaded;
}

}  // namespace

const Cublas& cublas() {
  static const Cublas loaded = load();
  return loaded;
}

void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", call, cublas().status_text(status)));
}

std::string cublas_version() {
  int version[3] = {};
  for (int i = 0; i < 3; ++i)
    check_cublas(cublas().property(static_cast<libraryPropertyType>(i), &version[i]), "cublasGetProperty");
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

void DestroyCublas::operator()(cublasHandle_t handle) const {
  const cublasStatus_t status = cublas().destroy(handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    fmt::print(stderr, "cublasDestroy: {}\n", cublas().status_text(status));
}

CublasHandle make_cublas_handle() {
  cublasHandle_t handle = nullptr;
  check_cublas(cublas().create(&handle), "cublasCreate");
  return CublasHandle(handle);
}

}  // namespace hilbench
