#include "harness/yaml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_set>

#include "harness/error.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kDeepest = 16;            // a sweep needs 5
constexpr int kMostOpenBrackets = 1000;         // the scanner keeps every open bracket ...
constexpr int kMostIndicators = 4'000'000;      // ... and every token inside it in memory
constexpr std::size_t kMostValues = 1'000'000;  // of one axis

[[noreturn]] void refuse(const std::string& file, int line, std::string what, std::string why = "",
                         std::string remedy = "") {
  throw UsageError({std::move(what), fmt::format("{}:{}", file, line), std::move(why), std::move(remedy)});
}

// Length of the UTF-8 sequence at `text`, 0 where it is none (overlong, surrogate, beyond U+10FFFF, cut off).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return tail(1) && tail(2) && tail(3) ? 4 : 0;
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
}

// What must hold before the text is given to the YAML scanner.
void check_text(const std::string& text, const std::string& file) {
  int line = 1, open = 0, indicators = 0;
  bool blank = true;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_control(c))
      refuse(file, line, "not a text file", fmt::format("holds the byte 0x{:02x}", static_cast<unsigned>(c)));
    const std::size_t length = utf8_length(std::string_view(text).substr(i, 4));
    if (length == 0) refuse(file, line, "not UTF-8 text", "", "save the file as UTF-8");
    if (c == '\n') ++line;
    if (std::string_view("[]{},:\n").find(c) != std::string_view::npos && ++indicators > kMostIndicators)
      refuse(file, line, "too many values", "a sweep has at most a million cases",
             "use {range: ...} or split it");
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > kMostOpenBrackets) refuse(file, line, "nested too deep", "a sweep has at most 16 levels");
    blank = blank && (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    i += length;
  }
  if (blank) refuse(file, 1, "the file is empty", "", "see sweeps/example.yaml");
}

// Builds nodes from the parser's events, so that limits hold before memory is spent.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& file) : file_(file) {}
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "several YAML documents", "a sweep file holds one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, "", anchor, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail_alias(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (std::any_of(value.begin(), value.end(), is_control)) fail(mark, "control character in a value", "");
    add(mark, tag, anchor, {.kind = YamlNode::Kind::scalar, .quoted = tag == "!", .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    push(mark, add(mark, tag, anchor, {.kind = YamlNode::Kind::list}));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    push(mark, add(mark, tag, anchor, {.kind = YamlNode::Kind::map}));
  }
  void OnMapEnd() override {
    std::unordered_set<std::string_view> seen;
    for (const YamlNode& key : open_.back()->keys)
      if (!seen.insert(key.text).second)
        refuse(file_, key.line, fmt::format("key '{}' is given twice", one_line(key.text, 80)));
    open_.pop_back();
  }

 private:
  [[noreturn]] void fail(const YAML::Mark& mark, std::string what, std::string why) const {
    refuse(file_, mark.line + 1, std::move(what), std::move(why));
  }
  [[noreturn]] void fail_alias(const YAML::Mark& mark) const {
    fail(mark, "anchors and aliases are not read", "a sweep file spells everything out");
  }
  void push(const YAML::Mark& mark, YamlNode* node) {
    open_.push_back(node);
    if (open_.size() > kDeepest) fail(mark, "nested too deep", "a sweep has at most 16 levels");
  }
  // Nodes on `open_` stay where they are: a list grows only after its last item is complete.
  YamlNode* add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode node) {
    if (anchor != 0) fail_alias(mark);
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "tags are not read", one_line(tag, 80));
    node.line = mark.line + 1;
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    YamlNode& parent = *open_.back();
    const bool is_key = parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size();
    if (is_key && node.kind != YamlNode::Kind::scalar) fail(mark, "a key must be a word", "");
    std::vector<YamlNode>& into = is_key ? parent.keys : parent.items;
    into.push_back(std::move(node));
    return &into.back();
  }

  const std::string& file_;
  int documents_ = 0;
  YamlNode root_;
  std::vector<YamlNode*> open_;
};

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

}  // namespace

YamlNode parse_yaml(const std::string& text, const std::string& file) {
  check_text(text, file);
  Builder builder(file);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse(file, error.mark.line + 1, "not YAML", error.msg);
  }
  return builder.take_root();
}

std::string YamlValue::where() const {
  std::string place = *file_;
  if (node_->line > 0) place += fmt::format(":{}", node_->line);
  if (!path_.empty()) place += ", " + path_;
  return place;
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
  std::vector<std::pair<std::string, YamlValue>> entries;
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    const YamlNode& key = node_->keys[i];
    const std::string path = path_.empty() ? key.text : path_ + "." + key.text;
    if (std::find(allowed.begin(), allowed.end(), key.text) == allowed.end())
      fail_unknown(YamlValue(key, *file_, path), "key", key.text, allowed);
    entries.emplace_back(key.text, YamlValue(node_->items[i], *file_, path));
  }
  return entries;
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
  const std::string& digits = node_->text;
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  const bool octal_like = digits.size() > first + 1 && digits[first] == '0';
  if (node_->kind != YamlNode::Kind::scalar || node_->quoted || digits.empty() || stop != end || octal_like)
    fail("expects " + allowed, found());
  if (error != std::errc() || value < minimum || value > maximum)
    fail(fmt::format("{} is out of range", one_line(digits, 40)), "expects " + allowed);
  return value;
}

double YamlValue::number(double above, double at_most) const {
  const std::string allowed = fmt::format("a number above {} and at most {}", above, at_most);
  const std::string& digits = node_->text;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const bool plain = digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (node_->kind != YamlNode::Kind::scalar || node_->quoted || digits.empty() || !plain || stop != end)
    fail("expects " + allowed, found());
  if (error != std::errc() || !(value > above) || !(value <= at_most))
    fail(fmt::format("{} is out of range", one_line(digits, 40)), "expects " + allowed);
  return value;
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
  const std::string nearest = nearest_name(node_->text, names);
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
    for (std::int64_t exponent = first; exponent <= last; ++exponent)
      values.push_back(std::int64_t{1} << exponent);
  } else {
    if (parts.size() != 3) value.fail("expects first, last and step", "range: [1000, 3000, 500]");
    const std::int64_t first = parts[0].integer(minimum, maximum), last = parts[1].integer(minimum, maximum);
    const std::int64_t step = parts[2].integer(1, maximum);
    if ((last - first) / step >= static_cast<std::int64_t>(kMostValues))
      value.fail("more than a million values");
    for (std::int64_t at = first; at <= last; at += step) values.push_back(at);
  }
  if (values.empty()) value.fail("empty axis", "the first value is above the last");
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
