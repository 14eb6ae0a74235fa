// Why something cannot be done, as one sentence without a full stop; nothing if it can.
#pragma once

#include <optional>
#include <string>

namespace hilbench {

using Refusal = std::optional<std::string>;

}  // namespace hilbench
