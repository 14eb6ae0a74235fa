#include "kernels/base/text/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

// The scanner keeps every open bracket, and every token inside it, in memory.
constexpr int kMostOpenBrackets = 1000;
constexpr int kMostIndicators = 4'000'000;

[[noreturn]] void refuse(const std::string& file, int line, Problem problem) {
  problem.where = fmt::format("{}:{}", file, line);
  throw UsageError(problem);
}
[[noreturn]] void refuse(const std::string& file, int line, std::string what, std::string why = "",
                         std::string remedy = "") {
  refuse(file, line, {.what = std::move(what), .why = std::move(why), .remedy = std::move(remedy)});
}

// Control characters that no text holds.
bool is_binary(char c) {
  return is_control({&c, 1}) && c != '\n' && c != '\t' && c != '\r';
}

// `text` is UTF-8. Values are shown on terminals.
bool holds_control(std::string_view text) {
  for (std::size_t i = 0, length = 1; i < text.size(); i += length) {
    length = std::max<std::size_t>(1, utf8_length(text.substr(i, 4)));
    if (length == 1 ? is_binary(text[i]) : is_control(text.substr(i, length))) return true;
  }
  return false;
}

// Checks the text before the YAML scanner sees it.
void check_text(const std::string& text, const std::string& file, const YamlFileKind& kind) {
  int line = 1, open = 0, indicators = 0;
  bool blank = true;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_binary(c))
      refuse(file, line, "not a text file", fmt::format("holds the byte 0x{:02x}", static_cast<unsigned>(c)));
    const std::size_t length = utf8_length(std::string_view(text).substr(i, 4));
    if (length == 0) refuse(file, line, "not UTF-8 text", "", "save the file as UTF-8");
    if (c == '\n') ++line;
    if (std::string_view("[]{},:\n").find(c) != std::string_view::npos && ++indicators > kMostIndicators)
      refuse(file, line, "too many values", fmt::format("{} has at most a million cases", kind.name),
             "use {range: ...} or split it");
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > kMostOpenBrackets) refuse(file, line, kind.too_deep);
    blank = blank && (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    i += length;
  }
  if (blank) refuse(file, 1, kind.empty);
}

// Builds nodes from the parser's events, so that limits are checked before memory is used.
class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& file, const YamlFileKind& kind) : file_(file), kind_(kind) {}
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "several YAML documents", fmt::format("{} file holds one", kind_.name));
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, "", anchor, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail_alias(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (holds_control(value)) fail(mark, "control character in a value", "");
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
    fail(mark, "anchors and aliases are not read", fmt::format("{} file spells everything out", kind_.name));
  }
  void push(const YAML::Mark& mark, YamlNode* node) {
    open_.push_back(node);
    if (open_.size() > kind_.deepest) refuse(file_, mark.line + 1, kind_.too_deep);
  }
  // Pointers in `open_` stay valid: a list grows only after its last item is complete.
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
  const YamlFileKind& kind_;
  int documents_ = 0;
  YamlNode root_;
  std::vector<YamlNode*> open_;
};

// Whether a tab is among the blanks in front of the line with this number, from 0.
bool begins_with_tab(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= number; ++i)
    if (!std::getline(lines, line)) return false;
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos;
}

}  // namespace

YamlNode parse_yaml(const std::string& text, const std::string& file, const YamlFileKind& kind) {
  check_text(text, file, kind);
  Builder builder(file, kind);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    Problem problem = kind.not_yaml;
    problem.why = error.msg;
    if (begins_with_tab(text, error.mark.line)) {
      problem.why = "a tab begins the line";
      problem.remedy = "write spaces: YAML takes no tabs there";
    }
    refuse(file, error.mark.line + 1, std::move(problem));
  }
  return builder.take_root();
}

}  // namespace hilbench
