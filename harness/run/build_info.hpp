// How this program was built. CMake fills it in when it configures.
#pragma once

#include <string_view>

namespace hilbench {

struct BuildInfo {
  std::string_view version;     // "0.1.0"
  std::string_view commit;      // "8940a0b", "8940a0b-dirty", or "unknown" outside a git checkout
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view flags;       // "-O3 -DNDEBUG"
  std::string_view build_type;  // "Release"
  std::string_view sanitizers;  // "address,undefined"; empty: none
  std::string_view yaml_cpp;    // versions of libraries whose headers do not give them
  std::string_view benchmark;
  std::string_view highway;
  std::string_view hwloc;
  std::string_view cuda;  // versions of the toolkits that it was built with; empty: built without
  std::string_view cuda_architectures;
  bool has_gpu_stubs;  // of the GPU code, which refuse to launch
  std::string_view cupti;
  std::string_view nccl;
  std::string_view cudnn_frontend;
  std::string_view mpi;
};
const BuildInfo& build_info();

}  // namespace hilbench
