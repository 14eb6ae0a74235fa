#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/base/text/yaml.hpp"

namespace hilbench {
namespace {

// What other programs call the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOtherNames = {{{"float16", "fp16"},
                                                                                       {"half", "fp16"},
                                                                                       {"float32", "fp32"},
                                                                                       {"float", "fp32"},
                                                                                       {"bfloat16", "bf16"},
                                                                                       {"gpu", "cuda"},
                                                                                       {"host", "cpu"}}};

constexpr std::size_t kMostValues = 1'000'000;  // on one axis

std::string kind_name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  return "a word";
}

[[noreturn]] void fail_falling(const YamlValue& value, std::int64_t first, std::int64_t last,
                               std::string remedy) {
  value.fail(fmt::format("no value from {} to {}", first, last), "the first is above the last",
             "write " + remedy);
}

}  // namespace

std::string YamlValue::place() const {
  return node_->line > 0 ? fmt::format("{}:{}", *file_, node_->line) : *file_;
}

std::string YamlValue::where() const {
  return path_.empty() ? place() : fmt::format("{}, {}", place(), path_);
}

void YamlValue::fail(std::string what, std::string why, std::string remedy) const {
  throw UsageError({std::move(what), where(), std::move(why), std::move(remedy)});
}

std::string YamlValue::found() const {
  if (node_->kind != YamlNode::Kind::scalar) return "found " + kind_name(node_->kind);
  const std::string word = one_line(node_->text, 80);
  return node_->quoted ? fmt::format("found the text \"{}\"", word) : fmt::format("found '{}'", word);
}

bool YamlValue::is_text(std::string_view text) const {
  return node_->kind == YamlNode::Kind::scalar && node_->text == text;
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::entries(
    std::span<const std::string> allowed) const {
  if (!is_map()) fail("expects a map", found(), fmt::format("its keys are {}", fmt::join(allowed, ", ")));
  std::vector<std::pair<std::string, YamlValue>> all = entries();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::find(allowed.begin(), allowed.end(), all[i].first) == allowed.end())
      fail_unknown(key(i), "key", all[i].first, allowed);
  return all;
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::entries() const {
  if (!is_map()) fail("expects a map", found());
  std::vector<std::pair<std::string, YamlValue>> entries;
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    const std::string& key = node_->keys[i].text;
    entries.emplace_back(key, YamlValue(node_->items[i], *file_, path_of(key)));
  }
  return entries;
}

std::string YamlValue::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

std::optional<YamlValue> YamlValue::find(std::string_view key) const {
  for (std::size_t i = 0; i < node_->keys.size(); ++i)
    if (node_->keys[i].text == key) return YamlValue(node_->items[i], *file_, path_of(node_->keys[i].text));
  return std::nullopt;
}

YamlValue YamlValue::key(std::size_t entry) const {
  return YamlValue(node_->keys[entry], *file_, path_of(node_->keys[entry].text));
}

std::vector<YamlValue> YamlValue::items() const {
  if (!is_list()) fail("expects a list", found());
  std::vector<YamlValue> items;
  items.reserve(node_->items.size());
  for (std::size_t i = 0; i < node_->items.size(); ++i)
    items.emplace_back(node_->items[i], *file_, fmt::format("{}[{}]", path_, i));
  return items;
}

std::vector<YamlValue> YamlValue::scalar_or_items() const {
  if (!is_list()) return {*this};
  if (node_->items.empty()) fail("empty list", "an axis without values makes no case");
  return items();
}

std::string YamlValue::text() const {
  if (node_->kind != YamlNode::Kind::scalar) fail("expects text", found());
  return node_->text;
}

std::int64_t YamlValue::integer(std::int64_t minimum, std::int64_t maximum) const {
  const std::string allowed = fmt::format("an integer {}..{}", minimum, maximum);
  const bool plain = node_->kind == YamlNode::Kind::scalar && !node_->quoted;
  const std::optional<std::int64_t> value = plain ? integer_of(node_->text) : std::nullopt;
  if (!value) fail("expects " + allowed, found(), std::string(kIntegerForm));
  if (*value < minimum || *value > maximum)
    fail(fmt::format("{} is out of range", one_line(node_->text, 40)), "expects " + allowed);
  return *value;
}

// The number that a scalar is; `allowed` describes those that may stand there.
double YamlValue::real(const std::string& allowed, bool (*fits)(double value, double low, double high),
                       double low, double high) const {
  const std::string& digits = node_->text;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const bool plain = digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (node_->kind != YamlNode::Kind::scalar || node_->quoted || digits.empty() || !plain || stop != end)
    fail("expects " + allowed, found());
  if (error != std::errc() || !fits(value, low, high))
    fail(fmt::format("{} is out of range", one_line(digits, 40)), "expects " + allowed);
  return value + 0.0;  // no -0
}

double YamlValue::number(double above, double at_most) const {
  return real(
      fmt::format("a number above {} and at most {}", above, at_most),
      [](double value, double low, double high) { return value > low && value <= high; }, above, at_most);
}

double YamlValue::share() const {
  return real(
      "a number from 0 to below 1",
      [](double value, double low, double high) { return value >= low && value < high; }, 0, 1);
}

bool YamlValue::boolean() const {
  if (node_->quoted || (!is_text("true") && !is_text("false"))) fail("expects true or false", found());
  return is_text("true");
}

std::size_t YamlValue::choice(std::span<const std::string_view> names) const {
  const std::string allowed = fmt::format("expects one of {}", fmt::join(names, ", "));
  if (node_->kind != YamlNode::Kind::scalar) fail(allowed, found());
  const auto at = std::find(names.begin(), names.end(), node_->text);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  std::string nearest = nearest_name(node_->text, names);
  for (const auto& [other, name] : kOtherNames)
    if (other == node_->text && std::find(names.begin(), names.end(), name) != names.end()) nearest = name;
  fail(allowed, found(), nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

std::vector<std::int64_t> YamlValue::integers(std::int64_t minimum, std::int64_t maximum) const {
  std::vector<std::int64_t> values;
  if (is_map()) return generated(minimum, maximum);
  std::unordered_set<std::int64_t> seen;
  for (const YamlValue& item : scalar_or_items()) {
    const std::int64_t value = item.integer(minimum, maximum);
    if (seen.insert(value).second) values.push_back(value);
  }
  return values;
}

std::vector<std::int64_t> YamlValue::generated(std::int64_t minimum, std::int64_t maximum) const {
  const std::string kForms[] = {"pow2", "range"};
  const auto forms = entries(kForms);
  if (forms.size() != 1) fail("expects one of {pow2: [a, b]} and {range: [a, b, step]}");
  const auto& [form, value] = forms.front();
  const std::vector<YamlValue> parts = value.items();
  std::vector<std::int64_t> values;
  if (form == "pow2") {
    if (parts.size() != 2) value.fail("expects two exponents", "pow2: [13, 16] is 8192, 16384, 32768, 65536");
    const std::int64_t first = parts[0].integer(0, 40), last = parts[1].integer(0, 40);
    if (first > last) fail_falling(value, first, last, fmt::format("pow2: [{}, {}]", last, first));
    for (std::int64_t exponent = first; exponent <= last; ++exponent)
      values.push_back(std::int64_t{1} << exponent);
  } else {
    if (parts.size() != 3) value.fail("expects first, last and step", "range: [1000, 3000, 500]");
    const std::int64_t first = parts[0].integer(minimum, maximum), last = parts[1].integer(minimum, maximum);
    const std::int64_t step = parts[2].integer(1, maximum);
    if (first > last) fail_falling(value, first, last, fmt::format("range: [{}, {}, {}]", last, first, step));
    if ((last - first) / step >= static_cast<std::int64_t>(kMostValues))
      value.fail("more than a million values");
    for (std::int64_t at = first; at <= last; at += step) values.push_back(at);
  }
  if (values.front() < minimum || values.back() > maximum)
    value.fail("out of range", fmt::format("expects integers {}..{}", minimum, maximum));
  return values;
}

void fail_unknown(const YamlValue& value, std::string_view kind, std::string_view word,
                  std::span<const std::string> names) {
  const std::string nearest = nearest_name(word.substr(0, 200), names);
  value.fail(fmt::format("unknown {} '{}'", kind, one_line(word, 80)),
             names.empty() ? fmt::format("there is no {} in this build", kind)
                           : fmt::format("allowed are {}", fmt::join(names, ", ")),
             nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

}  // namespace hilbench
