// A parameter as JSON, in records and in what programs are told.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "kernels/base/text/field.hpp"

namespace hilbench {

template <class T>
nlohmann::json field_json(const Field<T>& field, const T& owner) {
  const std::int64_t value = field.get(owner);
  if (field.kind == FieldKind::integer) return value;
  if (is_real(field.kind)) return real_of_bits(value);
  if (field.kind == FieldKind::boolean) return value != 0;
  return field_text(field, value);
}

}  // namespace hilbench
