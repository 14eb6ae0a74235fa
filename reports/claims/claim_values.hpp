// Values of a claims file. Every mistake is a UsageError with file and line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/text/yaml.hpp"

namespace hilbench {

// Throws UsageError if `text` is not YAML (see parse_yaml) or longer than 1 MiB. `where` names the file.
YamlNode parse_claims_yaml(const std::string& text, const std::string& where);

[[noreturn]] void refuse_claim(const YamlValue& value, std::string what, std::string why,
                               std::string remedy = {});
// Each of these throws UsageError if the value, or the value of the key, is not of the kind that it returns.
void check_keys(const YamlValue& map, std::span<const std::string_view> allowed);
std::string text_of(const YamlValue& map, std::string_view key);
std::string choice_of(const YamlValue& map, std::string_view key, std::span<const std::string_view> allowed);
std::int64_t integer_of(const YamlValue& value);  // 1 to 2^40
double positive_number(const YamlValue& map, std::string_view key);
double number_of(const YamlValue& value, std::string_view key);  // positive
template <class T>
std::int64_t claimed_value(const YamlValue& value, const Field<T>& field);

// A scalar as written, a list as "[1, 2]".
std::string plain_text(const YamlValue& value);

// A value that is a boolean, or one of `choices`.
bool boolean_of(const YamlValue& value, std::string_view name);
std::int64_t choice_index(const YamlValue& value, std::string_view name,
                          std::span<const std::string_view> choices);

template <class T>
std::int64_t claimed_value(const YamlValue& value, const Field<T>& field) {
  if (field.kind == FieldKind::integer) return integer_of(value);
  if (is_real(field.kind)) return bits_of_real(number_of(value, field.name));
  if (field.kind == FieldKind::boolean) return boolean_of(value, field.name) ? 1 : 0;
  return choice_index(value, field.name, field.choices);
}

}  // namespace hilbench
