// The parts of sweeps/sweep.schema.json that describe parameters follow case_fields() and variant_fields().
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/sweep/parts.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

json read_schema() {
  std::ifstream in(HILBENCH_SWEEPS "/sweep.schema.json");
  return json::parse(in);
}

json reference(std::string_view name) {
  return {{"$ref", "#/$defs/" + std::string(name)}};
}

template <class T>
json one_value(const Field<T>& field) {
  json value = {{"description", field.help}};
  if (field.kind == FieldKind::boolean) value["type"] = "boolean";
  if (field.kind == FieldKind::choice) value["enum"] = field.choices;
  if (field.kind == FieldKind::integer)
    value["anyOf"] = {{{"type", "integer"}, {"minimum", field.minimum}, {"maximum", field.maximum}},
                      reference("size")};
  if (field.kind == FieldKind::real)
    value.update({{"type", "number"}, {"exclusiveMinimum", field.above}, {"maximum", field.maximum}});
  if (field.kind == FieldKind::share)
    value.update({{"type", "number"}, {"minimum", 0}, {"exclusiveMaximum", 1}});
  return value;
}

template <class T>
json axis(const Field<T>& field) {
  json forms = {reference(field.name),
                {{"type", "array"}, {"minItems", 1}, {"items", reference(field.name)}}};
  if (field.kind == FieldKind::integer) forms.push_back(reference("generated"));
  return {{"anyOf", forms}};
}

// A list with one value for each dimension.
json one_list(const Field<WindowDimension>& field) {
  json item = one_value(field);
  item.erase("description");
  return {{"description", field.help},
          {"type", "array"},
          {"minItems", 2},
          {"maxItems", kMostDimensions},
          {"items", item}};
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(Schema, FollowsTheParametersOfACase) {
  const json schema = read_schema();
  std::set<std::string> expected = {"segments", "dilations", "patterns", "mask", "mask_block"};
  for (const Field<Case>& field : case_fields()) {
    const std::string name(field.name);
    expected.insert(name);
    EXPECT_EQ(schema["$defs"][name], one_value(field)) << name;
    EXPECT_EQ(schema["properties"]["axes"]["properties"][name], axis(field)) << name;
    EXPECT_EQ(schema["properties"]["cases"]["items"]["properties"][name], reference(name)) << name;
  }
  for (const Field<WindowDimension>& field : window_fields()) {
    const std::string name(field.name);
    expected.insert(name);
    const json forms = {reference(name), {{"type", "array"}, {"minItems", 1}, {"items", reference(name)}}};
    EXPECT_EQ(schema["$defs"][name], one_list(field)) << name;
    EXPECT_EQ(schema["properties"]["axes"]["properties"][name], (json{{"anyOf", forms}})) << name;
    EXPECT_EQ(schema["properties"]["cases"]["items"]["properties"][name], reference(name)) << name;
  }
  EXPECT_EQ(keys_of(schema["properties"]["cases"]["items"]["properties"]), expected);
  const json& sizes = schema["$defs"]["mask_block"]["anyOf"][0];
  EXPECT_EQ(sizes["maximum"], kLongestMaskBlock);
}

TEST(Schema, FollowsTheOptionsOfAVariant) {
  const json schema = read_schema();
  const json& options = schema["properties"]["variants"]["items"]["properties"];
  for (const Field<Variant>& field : variant_fields()) {
    const std::string name(field.name);
    EXPECT_EQ(schema["$defs"][name], one_value(field)) << name;
    EXPECT_EQ(options[name], axis(field)) << name;
  }
  std::set<std::string> expected(variant_option_names().begin(), variant_option_names().end());
  expected.insert("kernel");
  EXPECT_EQ(keys_of(options), expected);
}

TEST(Schema, AxesTakeBoth) {
  const json schema = read_schema();
  const std::set<std::string> expected(axis_names().begin(), axis_names().end());
  EXPECT_EQ(keys_of(schema["properties"]["axes"]["properties"]), expected);
}

}  // namespace
}  // namespace hilbench
