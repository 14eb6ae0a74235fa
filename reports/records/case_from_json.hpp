// The case of a record from its JSON; everything in it is checked.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/text/field.hpp"
#include "kernels/case/case.hpp"
#include "reports/records/record_member.hpp"

namespace hilbench {

// Sets the parameter `field` of `owner`, which `params` holds by its name.
template <class T>
void read_field(const nlohmann::json& params, const Field<T>& field, T& owner) {
  if (field.kind == FieldKind::integer) return field.set(owner, integer_at(params, field.name));
  if (field.kind == FieldKind::real) {
    const double value = to_double(member(params, field.name), field.name);
    if (!(value > field.above) || value > static_cast<double>(field.maximum))
      refuse_record(fmt::format("'{}' is {}, not {} to {}", field.name, value, field.above, field.maximum));
    return field.set(owner, bits_of_real(value));
  }
  if (field.kind == FieldKind::share) {
    const double value = to_double(member(params, field.name), field.name);
    if (!(value >= 0 && value < 1))
      refuse_record(fmt::format("'{}' is {}, not 0 to below 1", field.name, value));
    return field.set(owner, bits_of_real(value));
  }
  if (field.kind == FieldKind::boolean) return field.set(owner, boolean_at(params, field.name) ? 1 : 0);
  const std::string name = string_at(params, field.name);
  const auto found = std::find(field.choices.begin(), field.choices.end(), name);
  if (found == field.choices.end()) refuse_record(fmt::format("'{}' is '{}'", field.name, name));
  field.set(owner, found - field.choices.begin());
}

// `params`: of the record; `asked`: what the sweep asked for besides.
Case case_from_json(const nlohmann::json& params, const nlohmann::json& asked);

}  // namespace hilbench
