// In place of cudnn_sdpa.cpp where its syntax alone is checked (HILBENCH_DEVICE_CODE=IF_CHANGED).
#include <stdexcept>

#include "baselines/cudnn/cudnn_sdpa.hpp"

namespace hilbench {

struct CudnnSdpa::State {};

const std::string& cudnn_absence() {
  static const std::string kAbsence =
      "this build has checked the syntax of its calls of cuDNN only; build it with "
      "-DHILBENCH_DEVICE_CODE=COMPILED";
  return kAbsence;
}

std::string cudnn_version() {
  return "";
}

std::string cudnn_frontend_version() {
  return "";
}

CudnnSdpa::CudnnSdpa(const AttentionCall&, std::int64_t, Dtype, Mask) {
  throw std::runtime_error(cudnn_absence());
}

CudnnSdpa::CudnnSdpa(const AttentionCall&, const AttentionCall&, std::int64_t, Dtype, Mask) {
  throw std::runtime_error(cudnn_absence());
}

CudnnSdpa::~CudnnSdpa() = default;
CudnnSdpa::CudnnSdpa(CudnnSdpa&&) noexcept = default;

const std::vector<SdpaPlan>& CudnnSdpa::plans() const {
  throw std::runtime_error(cudnn_absence());
}

void CudnnSdpa::run(std::size_t, const SdpaRows&, void*) const {
  throw std::runtime_error(cudnn_absence());
}

}  // namespace hilbench
