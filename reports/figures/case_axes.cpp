#include "reports/figures/case_axes.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "kernels/base/text/field_json.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

std::int64_t largest(const Case& work, std::int64_t Branch::*member) {
  std::int64_t most = 1;
  for (const Branch& branch : work.pattern) most = std::max(most, branch.*member);
  return most;
}

struct Axis {
  std::string key, file, title;
  json (*at)(const Case&);
};
const std::array<Axis, 5> kAxes = {{
    {"n", "length", "sequence length", [](const Case& work) { return json(work.sequence_length); }},
    {"r", "dilation", "largest dilation",
     [](const Case& work) { return json(largest(work, &Branch::dilation)); }},
    {"ring", "ranks", "ranks", [](const Case& work) { return json(work.ring_size); }},
    {"w", "segment", "largest segment",
     [](const Case& work) { return json(largest(work, &Branch::segment_length)); }},
    {"kv_heads", "kv_heads", "key and value heads",
     [](const Case& work) { return json(work.kv_heads != 0 ? work.kv_heads : work.heads); }},
}};

// Parameters that are an axis above or that tell series apart, and what no figure is about.
bool is_other_axis(std::string_view name) {
  constexpr std::array<std::string_view, 7> kElsewhere = {
      "sequence_length", "ring_size", "dtype", "pages", "device", "dropout_seed", "kv_heads"};
  return std::find(kElsewhere.begin(), kElsewhere.end(), name) == kElsewhere.end();
}

std::string in_words(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

json value_of(const Case& work, std::string_view key) {
  for (const Axis& axis : kAxes)
    if (axis.key == key) return axis.at(work);
  for (const Field<Case>& field : case_fields())
    if (field.name == key) return field_json(field, work);
  return {};
}

bool varies(const View& view, std::string_view key) {
  std::set<json> values;
  for (const CaseView& of_case : view.cases) {
    values.insert(value_of(*of_case.work, key));
    if (values.size() > 1) return true;
  }
  return false;
}

json axis_json(std::string_view key, std::string_view file, std::string_view title, const View& view) {
  return {{"key", key},
          {"file", file},
          {"title", title},
          {"number", value_of(*view.cases.front().work, key).is_number()}};
}

}  // namespace

json case_axes(const View& view) {
  json axes = json::array();
  const bool lengths = varies(view, "n"), heads = varies(view, "heads");
  const auto follows = [&](const std::string& key) {  // another axis, on most sweeps
    return (key == "w" && lengths) || (key == "kv_heads" && heads);
  };
  for (const Axis& axis : kAxes)
    if (!follows(axis.key) && varies(view, axis.key))
      axes.push_back(axis_json(axis.key, axis.file, axis.title, view));
  for (const Field<Case>& field : case_fields())
    if (is_other_axis(field.name) && varies(view, field.name))
      axes.push_back(axis_json(field.name, field.name, in_words(field.name), view));
  return axes;
}

json case_places(const Case& work, const json& axes) {
  json places = json::object();
  for (const json& axis : axes) {
    const auto key = axis.at("key").get<std::string>();
    places[key] = value_of(work, key);
  }
  return places;
}

}  // namespace hilbench
