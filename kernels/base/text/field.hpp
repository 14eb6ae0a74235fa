// A parameter described once: its name, its allowed values, and how to get and set it. Sweep parsing, ids,
// the JSON form of a record and `--axis` all read these tables, so a new parameter is one row; a test holds
// the sweep schema against them.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hilbench {

enum class FieldKind { integer, boolean, choice, real, share };  // share: a real from 0 to below 1

constexpr bool is_real(FieldKind kind) {
  return kind == FieldKind::real || kind == FieldKind::share;
}

// A real number that is not negative as the integer that `Field` gets and sets: its bits. They are ordered as
// the numbers are.
constexpr std::int64_t bits_of_real(double value) {
  return std::bit_cast<std::int64_t>(value);
}
constexpr double real_of_bits(std::int64_t bits) {
  return std::bit_cast<double>(bits);
}

template <class T>
struct Field {
  std::string_view name;
  FieldKind kind;
  std::string_view help;
  std::int64_t minimum = 1;                        // integers only
  std::int64_t maximum = std::int64_t{1} << 40;    // integers and reals
  double above = 0;                                // reals only: a value is more than this
  std::span<const std::string_view> choices = {};  // choices only: names by value
  std::int64_t (*get)(const T&);  // a choice as its index, a boolean as 0 or 1, a real as its bits
  void (*set)(T&, std::int64_t);
};

template <class T, class Value>
T class_of_member(Value T::*member);

// The field that is the member `Member` of a T, a whole number.
template <auto Member, class T = decltype(class_of_member(Member))>
constexpr Field<T> number_field(std::string_view name, std::string_view help,
                                std::int64_t maximum = std::int64_t{1} << 40) {
  return {.name = name,
          .kind = FieldKind::integer,
          .help = help,
          .maximum = maximum,
          .get = [](const T& of) { return of.*Member; },
          .set = [](T& of, std::int64_t value) { of.*Member = value; }};
}

// The field that is the member `Member` of a T, of type Enum, whose values have the names `choices`.
template <auto Member, class Enum, class T = decltype(class_of_member(Member))>
constexpr Field<T> choice_field(std::string_view name, std::span<const std::string_view> choices,
                                std::string_view help) {
  return {.name = name,
          .kind = FieldKind::choice,
          .help = help,
          .choices = choices,
          .get = [](const T& of) { return static_cast<std::int64_t>(of.*Member); },
          .set = [](T& of, std::int64_t value) { of.*Member = static_cast<Enum>(value); }};
}

// `value` as text: the name of a choice, "true" or "false", the digits of an integer, the fewest digits that
// give a real back.
template <class T>
std::string field_text(const Field<T>& field, std::int64_t value) {
  if (field.kind == FieldKind::boolean) return value != 0 ? "true" : "false";
  if (field.kind == FieldKind::choice) return std::string(field.choices[static_cast<std::size_t>(value)]);
  if (is_real(field.kind)) {
    char digits[32];
    return {digits,
            std::to_chars(digits, digits + sizeof digits, real_of_bits(value), std::chars_format::fixed).ptr};
  }
  return std::to_string(value);
}

// `Row`: a field, or what derives from it.
template <class Row>
const Row* find_field(std::span<const Row> fields, std::string_view name) {
  for (const Row& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace hilbench
