// YAML text as values that know their place in the file, so that every error message can name it.
// Anchors, aliases, tags and several documents are refused: no file here needs them, and aliases let a small
// file expand to a huge one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/field.hpp"

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

// The limits of one kind of YAML file, and its messages. parse_yaml fills in their `where`.
struct YamlFileKind {
  std::string_view name = "a sweep";
  std::size_t deepest = 16;  // most levels of lists and maps
  Problem empty = {.what = "the file is empty", .remedy = "see sweeps/example.yaml"};
  Problem not_yaml = {.what = "not YAML"};  // `why` becomes the parser's message
  Problem too_deep = {.what = "nested too deep", .why = "a sweep has at most 16 levels"};
};

// `file` is used in messages only. Throws UsageError if the text is empty, not UTF-8 or not YAML, holds
// control characters, nests too deep, gives a key twice, or uses anchors, aliases, tags or several documents.
YamlNode parse_yaml(const std::string& text, const std::string& file, const YamlFileKind& kind = {});

// A node with its place. Every reading function throws UsageError that names file, line, key and what is
// allowed. Node and file name belong to the caller and must outlive the value.
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

  // Entries of a map. Every key must be among `allowed`.
  std::vector<std::pair<std::string, YamlValue>> entries(std::span<const std::string> allowed) const;
  std::vector<std::pair<std::string, YamlValue>> entries() const;  // any keys
  std::optional<YamlValue> find(std::string_view key) const;       // nothing if it is no map or lacks the key
  YamlValue key(std::size_t entry) const;                          // the key of entries()[entry] as a value
  std::vector<YamlValue> items() const;                            // of a list, which may be empty
  std::vector<YamlValue> scalar_or_items() const;  // itself, or the items of a list that is not empty

  std::string text() const;  // any scalar
  std::int64_t integer(std::int64_t minimum, std::int64_t maximum) const;
  double number(double above, double at_most) const;  // above < value <= at_most
  double share() const;                               // 0 <= value < 1
  bool boolean() const;
  std::size_t choice(std::span<const std::string_view> names) const;  // index of the name

  // One integer, a list of them, {pow2: [a, b]} or {range: [a, b, step]}; both ends are included.
  std::vector<std::int64_t> integers(std::int64_t minimum, std::int64_t maximum) const;

 private:
  double real(const std::string& allowed, bool (*fits)(double value, double low, double high), double low,
              double high) const;
  std::string found() const;  // "found 'x'"
  std::string path_of(const std::string& key) const;
  std::vector<std::int64_t> generated(std::int64_t minimum, std::int64_t maximum) const;

  const YamlNode* node_;
  const std::string* file_;
  std::string path_;
};

// field_value: one value of a field. field_values: the values of an axis over the field, without duplicates.
template <class T>
std::int64_t field_value(const YamlValue& value, const Field<T>& field) {
  if (field.kind == FieldKind::boolean) return value.boolean() ? 1 : 0;
  if (field.kind == FieldKind::choice) return static_cast<std::int64_t>(value.choice(field.choices));
  if (field.kind == FieldKind::share) return bits_of_real(value.share());
  if (field.kind == FieldKind::real)
    return bits_of_real(value.number(field.above, static_cast<double>(field.maximum)));
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

// Fails with "unknown order 'hilbrt'", all of `names`, and the nearest of them.
[[noreturn]] void fail_unknown(const YamlValue& value, std::string_view kind, std::string_view word,
                               std::span<const std::string> names);

}  // namespace hilbench
