// YAML text as values that know their place in the file, so that every error can name it.
// Anchors, aliases, tags and several documents are refused: a sweep needs none, and they make small files
// huge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/base/field.hpp"

namespace hilbench {

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;
  int line = 0;                 // from 1; 0: not from a file
  std::string text;             // of a scalar
  std::vector<YamlNode> items;  // of a list; values of a map
  std::vector<YamlNode> keys;   // of a map: distinct scalars
};

// What a kind of file may hold, and how messages speak of it; their `where` is filled in.
struct YamlFileKind {
  std::string_view name = "a sweep";
  std::size_t deepest = 16;  // levels of lists and maps
  Problem empty = {.what = "the file is empty", .remedy = "see sweeps/example.yaml"};
  Problem not_yaml = {.what = "not YAML"};  // `why` becomes the parser's message
  Problem too_deep = {.what = "nested too deep", .why = "a sweep has at most 16 levels"};
};

// `file` is only named in messages. Throws UsageError: not UTF-8, control characters, not YAML, nested too
// deep, a key given twice, anchors, aliases, tags, several documents, nothing at all.
YamlNode parse_yaml(const std::string& text, const std::string& file, const YamlFileKind& kind = {});

// A node with its place. Every reading function throws UsageError naming file, line, key and what is allowed.
// Neither node nor file name is owned.
class YamlValue {
 public:
  YamlValue(const YamlNode& node, const std::string& file, std::string path)
      : node_(&node), file_(&file), path_(std::move(path)) {}

  std::string place() const;  // "quick.yaml:7"
  std::string where() const;  // "quick.yaml:7, axes.sequence_length"
  [[noreturn]] void fail(std::string what, std::string why = "", std::string remedy = "") const;

  bool is_list() const { return node_->kind == YamlNode::Kind::list; }
  bool is_map() const { return node_->kind == YamlNode::Kind::map; }
  bool is_scalar() const { return node_->kind == YamlNode::Kind::scalar; }
  bool is_null() const { return node_->kind == YamlNode::Kind::null; }
  bool is_text(std::string_view text) const;

  // Entries of a map whose keys must all be among `allowed`.
  std::vector<std::pair<std::string, YamlValue>> entries(std::span<const std::string> allowed) const;
  std::vector<std::pair<std::string, YamlValue>> entries() const;  // of a map with any keys
  std::optional<YamlValue> find(std::string_view key) const;       // nothing: not a map, or without the key
  YamlValue key(std::size_t entry) const;                          // of entries()[entry], with its own place
  std::vector<YamlValue> items() const;                            // of a list, which may be empty
  std::vector<YamlValue> scalar_or_items() const;  // itself, or the items of a list that is not empty

  std::string text() const;  // any scalar
  std::int64_t integer(std::int64_t minimum, std::int64_t maximum) const;
  double number(double above, double at_most) const;  // above < value <= at_most
  bool boolean() const;
  std::size_t choice(std::span<const std::string_view> names) const;  // index of the name

  // Integers also as {pow2: [a, b]} or {range: [a, b, step]}, ends included, beside what scalar_or_items
  // takes.
  std::vector<std::int64_t> integers(std::int64_t minimum, std::int64_t maximum) const;

 private:
  std::string found() const;  // "found 'x'"
  std::string path_of(const std::string& key) const;
  std::vector<std::int64_t> generated(std::int64_t minimum, std::int64_t maximum) const;

  const YamlNode* node_;
  const std::string* file_;
  std::string path_;
};

// One value of a field; all values of a field as an axis gives them, duplicates dropped.
template <class T>
std::int64_t field_value(const YamlValue& value, const Field<T>& field) {
  if (field.kind == FieldKind::boolean) return value.boolean() ? 1 : 0;
  if (field.kind == FieldKind::choice) return static_cast<std::int64_t>(value.choice(field.choices));
  return value.integer(field.minimum, field.maximum);
}
template <class T>
std::vector<std::int64_t> field_values(const YamlValue& value, const Field<T>& field) {
  if (field.kind == FieldKind::integer) return value.integers(field.minimum, field.maximum);
  std::vector<std::int64_t> values;
  for (const YamlValue& item : value.scalar_or_items()) {
    const std::int64_t one = field_value(item, field);
    bool seen = false;
    for (const std::int64_t other : values) seen = seen || other == one;
    if (!seen) values.push_back(one);
  }
  return values;
}

// "unknown order 'hilbrt'" with the nearest of `names` and all of them.
[[noreturn]] void fail_unknown(const YamlValue& value, std::string_view kind, std::string_view word,
                               std::span<const std::string> names);

}  // namespace hilbench
