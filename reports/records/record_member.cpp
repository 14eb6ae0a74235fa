#include "reports/records/record_member.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/base/text/error.hpp"

namespace hilbench {

using nlohmann::json;

void refuse_record(const std::string& why) {
  throw UsageError(
      {.what = fmt::format("not a record of schema {} to {}", kOldestRecordSchema, kRecordSchema),
       .why = why});
}

const json& member(const json& object, std::string_view key) {
  if (!object.is_object()) refuse_record(fmt::format("'{}' must be in an object", key));
  const auto found = object.find(key);
  if (found == object.end()) refuse_record(fmt::format("'{}' is missing", key));
  return *found;
}

std::string string_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_string()) refuse_record(fmt::format("'{}' is not text", key));
  return value.get<std::string>();
}
std::string text_at(const json& object, std::string_view key) {
  return member(object, key).is_null() ? std::string() : string_at(object, key);
}

double to_double(const json& value, std::string_view key) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) refuse_record(fmt::format("'{}' is not a number", key));
  return value.get<double>();
}
double to_amount(const json& value, std::string_view key) {
  const double amount = to_double(value, key);
  if (amount < 0) refuse_record(fmt::format("'{}' is {}, below 0", key, amount));
  return amount;
}
double amount_at(const json& object, std::string_view key) {
  return to_amount(member(object, key), key);
}
double known_amount_at(const json& object, std::string_view key) {
  const double amount = amount_at(object, key);
  if (!std::isfinite(amount)) refuse_record(fmt::format("'{}' is no number", key));
  return amount;
}
std::optional<double> optional_amount_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return amount_at(object, key);
}
std::optional<double> optional_double_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return to_double(member(object, key), key);
}

std::int64_t to_integer(const json& value, std::string_view key) {
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::uint64_t{1} << 62
                                               : value.is_number_integer();
  if (!fits) refuse_record(fmt::format("'{}' is not an integer, or too large", key));
  return value.get<std::int64_t>();
}
std::int64_t integer_at(const json& object, std::string_view key) {
  return to_integer(member(object, key), key);
}
std::int64_t whole_at(const json& object, std::string_view key) {
  const std::int64_t value = integer_at(object, key);
  if (value < 0) refuse_record(fmt::format("'{}' is {}", key, value));
  return value;
}
std::int64_t positive_at(const json& object, std::string_view key) {
  return member(object, key).is_null() ? 0 : integer_at(object, key);
}
std::optional<std::int64_t> optional_integer_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return integer_at(object, key);
}

bool boolean_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_boolean()) refuse_record(fmt::format("'{}' is neither true nor false", key));
  return value.get<bool>();
}

const json& array_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_array()) refuse_record(fmt::format("'{}' is not a list", key));
  return value;
}

Interval interval_at(const json& object, std::string_view key) {
  const json& value = array_at(object, key);
  if (value.size() != 2) refuse_record(fmt::format("'{}' is not a pair", key));
  const Interval interval = {to_amount(value[0], key), to_amount(value[1], key)};
  if (interval.low > interval.high)
    refuse_record(
        fmt::format("'{}' is reversed: it begins at {} and ends at {}", key, interval.low, interval.high));
  return interval;
}

}  // namespace hilbench
