// A command, one of a union, as JSON: which it is, and its fields.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <variant>

namespace hilbench {

template <class... Commands>
nlohmann::json json_of_command(const std::variant<Commands...>& command) {
  nlohmann::json json = nlohmann::json::object();
  std::visit(
      [&](const auto& one) {
        if constexpr (!std::is_empty_v<std::decay_t<decltype(one)>>) json = one;
      },
      command);
  json["command"] = command.index();
  return json;
}

// Throws what nlohmann::json throws if a field is missing.
template <class Union, std::size_t at = 0>
Union command_from_json(const nlohmann::json& json) {
  if constexpr (at == std::variant_size_v<Union>) {
    throw std::runtime_error("a command of another build");
  } else {
    using Command = std::variant_alternative_t<at, Union>;
    if (json.at("command") != at) return command_from_json<Union, at + 1>(json);
    if constexpr (std::is_empty_v<Command>)
      return Command{};
    else
      return json.get<Command>();
  }
}

}  // namespace hilbench
