// The transports of this build.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hilbench {

enum class TransportMemory { host, gpu };

struct TransportInfo {
  std::string_view name, help;
  TransportMemory memory;    // where the data are
  std::string (*absence)();  // "" if the build has it and its library loads, else why not and what to do
};

std::span<const TransportInfo> transports();

}  // namespace hilbench
