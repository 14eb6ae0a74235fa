// `skip_when`: comparisons of case parameters with literals, joined by and, or, not and parentheses.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/case.hpp"

namespace hilbench {

class Condition {
 public:
  struct Node;
  Condition() = default;  // matches nothing
  // Throws UsageError with the column and what was expected. Parameters: case_fields(), and segment_length,
  // dilation (true if any branch satisfies the comparison), branches (their number).
  static Condition parse(std::string_view text, const std::string& where);
  bool matches(const Case& work) const;
  const std::string& text() const { return text_; }

 private:
  std::shared_ptr<const Node> root_;
  std::string text_;
};

}  // namespace hilbench
