#include "kernels/base/process/nvtx.hpp"

#include <nvtx3/nvToolsExt.h>

namespace hilbench {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("hilbench");
  return handle;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() {
  nvtxDomainRangePop(domain());
}

}  // namespace hilbench
