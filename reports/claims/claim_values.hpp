// Reading a YAML file whose every mistake is a UsageError with file and line.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/case/case.hpp"

namespace hilbench {

class YamlReader {
 public:
  // `where` names the file in messages.
  explicit YamlReader(std::string where) : where_(std::move(where)) {}

  // Throws UsageError where `text` is no YAML, longer than 1 MiB, or nested so deeply that parsing would
  // exhaust the stack.
  YAML::Node parse(const std::string& text) const;

  [[noreturn]] void fail(const YAML::Mark& mark, std::string what, std::string why,
                         std::string remedy = {}) const;
  // Each of these throws UsageError where the node is not what its name says.
  void check_keys(const YAML::Node& map, std::span<const std::string_view> allowed) const;
  std::string text_of(const YAML::Node& map, const char* key) const;
  std::string choice_of(const YAML::Node& map, const char* key,
                        std::span<const std::string_view> allowed) const;
  std::int64_t integer(const YAML::Node& node) const;  // 1 to 2^40
  double positive(const YAML::Node& node, const char* key) const;
  std::int64_t field_value(const Field<Case>& field, const YAML::Node& node) const;

 private:
  std::string where_;
};

// A scalar as written, a list as "[1, 2]".
std::string plain_text(const YAML::Node& node);

}  // namespace hilbench
