// NCCL, loaded on first use.
#pragma once

#include <nccl.h>

#include <string>

namespace hilbench {

struct Nccl {
  std::string absence;  // "" where it could be loaded, else the reason and what to do
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_state = nullptr;
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
};

// NVLink multicast stays off (NCCL_NVLS_ENABLE=0, which the first call sets): sending and receiving have no
// use for it.
const Nccl& nccl();

}  // namespace hilbench
