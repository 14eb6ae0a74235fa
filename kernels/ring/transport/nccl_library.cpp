#include "kernels/ring/transport/nccl_library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>

#include "kernels/base/process/library.hpp"
#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {
namespace {

Nccl load() {
  Nccl loaded;
  ::setenv("NCCL_NVLS_ENABLE", "0", 1);
  const LoadedLibrary library(toolkit_names("libnccl.so.2"));
  if (!library) {
    loaded.absence = fmt::format("{}; install NCCL (libnccl2), or set LD_LIBRARY_PATH", library.why());
    return loaded;
  }
  const auto find = [&](const char* name, auto& function) {
    function = library.find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (function == nullptr && loaded.absence.empty())
      loaded.absence = fmt::format("NCCL lacks {}; install NCCL 2.18 or newer", name);
  };
  find("ncclGetVersion", loaded.get_version);
  find("ncclGetUniqueId", loaded.get_unique_id);
  find("ncclCommInitRankConfig", loaded.comm_init);
  find("ncclCommFinalize", loaded.comm_finalize);
  find("ncclCommDestroy", loaded.comm_destroy);
  find("ncclCommAbort", loaded.comm_abort);
  find("ncclCommGetAsyncError", loaded.comm_state);
  find("ncclGetErrorString", loaded.error_text);
  find("ncclGetLastError", loaded.last_error);
  find("ncclGroupStart", loaded.group_start);
  find("ncclGroupEnd", loaded.group_end);
  find("ncclSend", loaded.send);
  find("ncclRecv", loaded.recv);
  return loaded;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl loaded = load();
  return loaded;
}

std::string nccl_absence() {
  return nccl().absence;
}

std::string nccl_version() {
  int version = 0;
  if (const ncclResult_t status = nccl().get_version(&version); status != ncclSuccess)
    throw TransportError(fmt::format("ncclGetVersion: {}", nccl().error_text(status)));
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace hilbench
