// What is thrown when a program does not keep to the protocol (docs/external.md).
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {

[[noreturn]] inline void break_off(const std::string& name, const std::string& what,
                                   const nlohmann::json& answer) {
  throw EnvironmentError(
      {.what = fmt::format("'{}' breaks the protocol", name),
       .why =
           fmt::format("{}, found {}", what,
                       one_line(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 80))});
}

}  // namespace hilbench
