// A parameter described once: its name, what it may hold, and where it lives. Sweep parsing, case ids, the
// JSON form of a record, the sweep schema and `--axis` all walk these tables, so a new parameter is one row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hilbench {

enum class FieldKind { integer, boolean, choice };

template <class T>
struct Field {
  std::string_view name;
  FieldKind kind;
  std::string_view help;
  std::int64_t minimum = 1;                        // integers only
  std::int64_t maximum = std::int64_t{1} << 40;    // integers only
  std::span<const std::string_view> choices = {};  // choices only: names by value
  std::int64_t (*get)(const T&);                   // choices as their index, booleans as 0 and 1
  void (*set)(T&, std::int64_t);
};

// The name of value `value` of a choice or boolean; digits of an integer.
template <class T>
std::string field_text(const Field<T>& field, std::int64_t value) {
  if (field.kind == FieldKind::boolean) return value != 0 ? "true" : "false";
  if (field.kind == FieldKind::choice) return std::string(field.choices[static_cast<std::size_t>(value)]);
  return std::to_string(value);
}

template <class T>
const Field<T>* find_field(std::span<const Field<T>> fields, std::string_view name) {
  for (const Field<T>& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace hilbench
