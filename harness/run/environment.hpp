// Where and how records were measured: machine, build, time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/plan/site.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// `environment` of a record: host (cpu, caches, memory, governor, turbo, load, virtualisation, kernel), build
// (version, commit, compiler, flags, libraries), time (ISO 8601, UTC), and device (the GPU; null for a CPU).
nlohmann::json environment_json(const Site& site, DeviceKind device);

// How this program was built: `environment.build` of its records.
nlohmann::json build_json();

std::string version_text();  // "hilbench 0.1.0 (commit abc1234)"
// The same, then a line for the compiler, the toolkits and the libraries that it was built with each.
std::string version_details();

// What must be equal if results stand together. The name is for messages, the hash is compared.
struct Identity {
  std::string name;
  std::string hash;  // 16 hexadecimal digits
};
Identity build_identity();                                // version, compiler, flags and the program's bytes
Identity instructions_identity(const std::string& simd);  // instruction set, and what multiplies bf16

}  // namespace hilbench
