#include "harness/sweep/condition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

constexpr int kDeepest = 50;
constexpr std::size_t kLongestCondition = 10'000;

// What a comparison reads: a field of the case, or a parameter that comes from the pattern.
enum class Subject { field, segment_length, dilation, branches, window, dimensions, mask_block };
enum class Compare { equal, unequal, less, at_most, greater, at_least };

constexpr std::array<std::string_view, 6> kCompares = {"==", "!=", "<", "<=", ">", ">="};

struct Parameter {
  Subject subject = Subject::field;
  const Field<Case>* field = nullptr;
  const Field<WindowDimension>* window = nullptr;  // `grid`, `window` ...: of any dimension
  bool is_number() const {
    return field == nullptr || field->kind == FieldKind::integer || is_real(field->kind);
  }
};

bool holds(double left, Compare compare, double right) {
  switch (compare) {
    case Compare::equal:
      return left == right;
    case Compare::unequal:
      return left != right;
    case Compare::less:
      return left < right;
    case Compare::at_most:
      return left <= right;
    case Compare::greater:
      return left > right;
    case Compare::at_least:
      return left >= right;
  }
  return false;
}

// True if some value of the parameter satisfies `test`. Only parameters of the pattern have several values:
// one for each branch or dimension, none if the pattern is of the other kind.
template <class Test>
bool any_value(const Parameter& parameter, const Case& work, Test test) {
  switch (parameter.subject) {
    case Subject::field:
      return test(is_real(parameter.field->kind) ? real_of_bits(parameter.field->get(work))
                                                 : static_cast<double>(parameter.field->get(work)));
    case Subject::branches:
      return test(has_windows(work) ? 0 : static_cast<double>(work.pattern.size()));
    case Subject::window:
      if (has_mask_blocks(work) && parameter.window->name != "grid") return false;
      return std::any_of(work.windows.begin(), work.windows.end(), [&](const WindowDimension& each) {
        return test(static_cast<double>(parameter.window->get(each)));
      });
    case Subject::mask_block:
      return test(static_cast<double>(work.mask_blocks.block));
    case Subject::dimensions:
      return test(static_cast<double>(work.windows.size()));
    case Subject::segment_length:
      return !has_windows(work) &&
             std::any_of(work.pattern.begin(), work.pattern.end(),
                         [&](const Branch& b) { return test(static_cast<double>(b.segment_length)); });
    case Subject::dilation:
      return !has_windows(work) &&
             std::any_of(work.pattern.begin(), work.pattern.end(),
                         [&](const Branch& b) { return test(static_cast<double>(b.dilation)); });
  }
  return false;
}

}  // namespace

struct Condition::Node {
  enum class Kind { any_of, all_of, negation, comparison };
  Kind kind = Kind::comparison;
  std::vector<std::shared_ptr<const Node>> parts;
  Parameter left;
  Compare compare = Compare::equal;
  double literal = 0;
  bool right_is_parameter = false;
  Parameter right;

  bool matches(const Case& work) const {
    const auto part_matches = [&](const auto& part) { return part->matches(work); };
    switch (kind) {
      case Kind::any_of:
        return std::any_of(parts.begin(), parts.end(), part_matches);
      case Kind::all_of:
        return std::all_of(parts.begin(), parts.end(), part_matches);
      case Kind::negation:
        return !parts.front()->matches(work);
      case Kind::comparison:
        break;
    }
    return any_value(left, work, [&](double value) {
      if (!right_is_parameter) return holds(value, compare, literal);
      return any_value(right, work, [&](double other) { return holds(value, compare, other); });
    });
  }
};

namespace {

using Node = Condition::Node;
using NodePtr = std::shared_ptr<const Node>;

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) { advance(); }

  NodePtr parse() {
    NodePtr root = disjunction();
    if (!token_.empty()) fail(fmt::format("unexpected '{}'", token_), "expects and, or, or the end");
    return root;
  }

 private:
  [[noreturn]] void fail(std::string what, std::string why, std::string remedy = "") const {
    throw UsageError({std::move(what), fmt::format("{}, column {}", where_, begin_ + 1), std::move(why),
                      std::move(remedy)});
  }

  void advance() {
    begin_ = std::min(text_.find_first_not_of(" \t\n", end_), text_.size());
    end_ = begin_;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
    };
    if (end_ < text_.size() && is_word(text_[end_])) {
      while (end_ < text_.size() && is_word(text_[end_])) ++end_;
    } else if (end_ < text_.size()) {
      const bool two =
          std::find(kCompares.begin(), kCompares.end(), text_.substr(end_, 2)) != kCompares.end();
      end_ += two && text_.size() - end_ > 1 ? 2 : 1;
    }
    token_ = text_.substr(begin_, end_ - begin_);
  }
  bool take(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }

  NodePtr joined(Node::Kind kind, std::string_view word, NodePtr (Parser::*part)()) {
    Node node;
    node.kind = kind;
    do {
      node.parts.push_back((this->*part)());
    } while (take(word));
    if (node.parts.size() == 1) return node.parts.front();
    return std::make_shared<const Node>(std::move(node));
  }
  NodePtr disjunction() { return joined(Node::Kind::any_of, "or", &Parser::conjunction); }
  NodePtr conjunction() { return joined(Node::Kind::all_of, "and", &Parser::term); }

  NodePtr term() {
    if (depth_ >= kDeepest) fail("nested too deep", fmt::format("at most {} levels", kDeepest));
    ++depth_;
    NodePtr node;
    if (take("not")) {
      Node negation;
      negation.kind = Node::Kind::negation;
      negation.parts.push_back(term());
      node = std::make_shared<const Node>(std::move(negation));
    } else if (take("(")) {
      node = disjunction();
      if (!take(")"))
        fail(token_.empty() ? "')' missing" : fmt::format("unexpected '{}'", token_), "expects ')'");
    } else {
      node = comparison();
    }
    --depth_;
    return node;
  }

  NodePtr comparison() {
    Node node;
    const std::string name(token_);
    node.left = parameter(true);
    advance();
    const auto compare = std::find(kCompares.begin(), kCompares.end(), token_);
    if (compare == kCompares.end())
      fail(fmt::format("unexpected {}", found()),
           fmt::format("expects {} after '{}'", fmt::join(kCompares, ", "), name));
    node.compare = static_cast<Compare>(compare - kCompares.begin());
    if (!node.left.is_number() && node.compare != Compare::equal && node.compare != Compare::unequal)
      fail(fmt::format("'{}' does not order the values of '{}'", token_, name), "expects == or !=");
    advance();
    read_right(node, name);
    advance();
    return std::make_shared<const Node>(std::move(node));
  }

  void read_right(Node& node, const std::string& name) {
    if (node.left.is_number()) {
      const auto [stop, error] = std::from_chars(token_.data(), token_.data() + token_.size(), node.literal);
      if (error == std::errc() && stop == token_.data() + token_.size()) return;
      if (const std::optional<std::int64_t> size = integer_of(token_)) {
        node.literal = static_cast<double>(*size);
        return;
      }
      node.right = parameter(false);
      node.right_is_parameter = node.right.subject != Subject::field || node.right.field != nullptr;
      if (node.right_is_parameter && node.right.is_number()) return;
      fail(fmt::format("unexpected {}", found()),
           fmt::format("expects a number or a parameter that is one, to compare with '{}'", name));
    }
    const Field<Case>& field = *node.left.field;
    static constexpr std::array<std::string_view, 2> kBooleans = {"false", "true"};
    const std::span<const std::string_view> words =
        field.kind == FieldKind::boolean ? std::span<const std::string_view>(kBooleans) : field.choices;
    const auto word = std::find(words.begin(), words.end(), token_);
    if (word != words.end()) {
      node.literal = static_cast<double>(word - words.begin());
      return;
    }
    const std::string nearest = nearest_name(token_, words);
    fail(fmt::format("unexpected {}", found()),
         fmt::format("'{}' is one of {}", name, fmt::join(words, ", ")),
         nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  }

  // The parameter that the token names. If it names none, and need not, the subject `field` without a field.
  Parameter parameter(bool required) const {
    if (token_ == "segment_length") return {Subject::segment_length};
    if (token_ == "dilation") return {Subject::dilation};
    if (token_ == "branches") return {Subject::branches};
    if (token_ == "dimensions") return {Subject::dimensions};
    if (token_ == "mask_block") return {Subject::mask_block};
    if (const Field<WindowDimension>* window = find_field(window_fields(), token_))
      if (window->kind == FieldKind::integer) return {Subject::window, nullptr, window};
    const Field<Case>* field = find_field(case_fields(), token_);
    if (field != nullptr || !required) return {Subject::field, field};
    std::vector<std::string> names = {"segment_length", "dilation", "branches", "dimensions", "mask_block"};
    for (const Field<WindowDimension>& known : window_fields())
      if (known.kind == FieldKind::integer) names.emplace_back(known.name);
    for (const Field<Case>& known : case_fields()) names.emplace_back(known.name);
    const std::string nearest = nearest_name(token_, names);
    fail(token_.empty() ? "comparison missing" : fmt::format("unknown parameter '{}'", one_line(token_, 80)),
         fmt::format("parameters are {}", fmt::join(names, ", ")),
         nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  }
  std::string found() const { return token_.empty() ? "end" : fmt::format("'{}'", one_line(token_, 80)); }

  std::string_view text_;
  const std::string& where_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string_view token_;
  int depth_ = 0;
};

}  // namespace

Condition Condition::parse(std::string_view text, const std::string& where) {
  if (text.size() > kLongestCondition)
    throw UsageError(
        {"condition too long", where, fmt::format("at most {} characters", kLongestCondition), ""});
  Condition condition;
  condition.root_ = Parser(text, where).parse();
  condition.text_ = text;
  return condition;
}

bool Condition::matches(const Case& work) const {
  return root_ != nullptr && root_->matches(work);
}

}  // namespace hilbench
