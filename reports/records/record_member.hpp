// Members of the JSON form of a record, by type. All throw UsageError if a member is missing or
// of another type.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "reports/records/record.hpp"

namespace hilbench {

// Throws UsageError.
[[noreturn]] void refuse_record(const std::string& why);

const nlohmann::json& member(const nlohmann::json& object, std::string_view key);

std::string string_at(const nlohmann::json& object, std::string_view key);
// Null stands for "".
std::string text_at(const nlohmann::json& object, std::string_view key);

// Null stands for NaN.
double to_double(const nlohmann::json& value, std::string_view key);
std::optional<double> optional_double_at(const nlohmann::json& object, std::string_view key);

// A time, a size, an error or a ratio: null or at least 0.
double to_amount(const nlohmann::json& value, std::string_view key);
double amount_at(const nlohmann::json& object, std::string_view key);
double known_amount_at(const nlohmann::json& object, std::string_view key);  // null is refused
std::optional<double> optional_amount_at(const nlohmann::json& object, std::string_view key);
Interval interval_at(const nlohmann::json& object, std::string_view key);

std::int64_t to_integer(const nlohmann::json& value, std::string_view key);
std::int64_t integer_at(const nlohmann::json& object, std::string_view key);
std::int64_t whole_at(const nlohmann::json& object, std::string_view key);  // not below 0
// Null stands for 0.
std::int64_t positive_at(const nlohmann::json& object, std::string_view key);
std::optional<std::int64_t> optional_integer_at(const nlohmann::json& object, std::string_view key);

bool boolean_at(const nlohmann::json& object, std::string_view key);
const nlohmann::json& array_at(const nlohmann::json& object, std::string_view key);

// The enumerator with that name.
template <class Enum, std::size_t size>
Enum name_at(const nlohmann::json& object, std::string_view key,
             const std::array<std::string_view, size>& names) {
  const std::string name = string_at(object, key);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse_record("'" + std::string(key) + "' is '" + name + "'");
  return static_cast<Enum>(found - names.begin());
}

}  // namespace hilbench
