#include "harness/run/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "harness/run/build_info.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "kernels/machine/host_json.hpp"

namespace hilbench {
using nlohmann::json;
json build_json() {
  const BuildInfo& build = build_info();
  return {{"version", build.version},
          {"commit", build.commit},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"build_type", build.build_type},
          {"sanitizers", build.sanitizers.empty() ? json(nullptr) : json(build.sanitizers)},
          {"libraries",
           {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
            {"yaml-cpp", build.yaml_cpp},
            {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                          NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
            {"sqlite", sqlite3_libversion()},
            {"benchmark", build.benchmark},
            {"highway", build.highway},
            {"hwloc", build.hwloc}}}};
}

json environment_json(const Site& site, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::cuda && site.gpu;
  return {{"host", host_json(site.host)},
          {"device", on_gpu ? to_json(*site.gpu) : json()},
          {"build", build_json()},
          {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
}

Identity build_identity() {
  const BuildInfo& build = build_info();
  const std::string name = fmt::format("{}, {} {}", version_text(), build.compiler, build.flags);
  return {name, fmt::format("{:016x}", fnv1a(name, hash_file("/proc/self/exe")))};
}

Identity instructions_identity(const std::string& simd) {
  const std::string name = fmt::format("{}, bf16 by {}", simd, name_of(chosen_bf16_products().products));
  return {name, hash_text(name)};
}

std::string version_text() {
  return fmt::format("hilbench {} (commit {})", build_info().version, build_info().commit);
}

std::string version_details() {
  const BuildInfo& build = build_info();
  const auto or_none = [](std::string_view version) { return version.empty() ? "none" : version; };
  std::string text = fmt::format("{}\ncompiler  {}, {}, {}\n", version_text(), build.compiler,
                                 build.build_type, build.flags);
  text += fmt::format("CUDA      {}{}{}\n", or_none(build.cuda),
                      build.cuda.empty()    ? ""
                      : build.has_gpu_stubs ? ", stubs of the code for "
                                            : ", code for ",
                      build.cuda_architectures);
  text += fmt::format("toolkits  CUPTI {}, NCCL {}, cuDNN frontend {}, MPI {}\n", or_none(build.cupti),
                      or_none(build.nccl), or_none(build.cudnn_frontend), or_none(build.mpi));
  const json versions = build_json().at("libraries");
  std::string libraries;
  for (const auto& [name, version] : versions.items())
    libraries += fmt::format("{}{} {}", libraries.empty() ? "" : ", ", name, version.get<std::string>());
  return text + "libraries " + libraries;
}

}  // namespace hilbench
