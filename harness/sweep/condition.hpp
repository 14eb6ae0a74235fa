// `skip_when`: comparisons of case parameters, joined by and, or, not and parentheses.
//
//   condition  = conjunction {"or" conjunction}
//   conjunction = term {"and" term}
//   term       = "not" term | "(" condition ")" | comparison
//   comparison = parameter ("==" | "!=" | "<" | "<=" | ">" | ">=") (literal | number parameter)
//
// Literals are numbers (also 8k), true and false, and the words of a choice (fp32, cpu, ...).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/case/case.hpp"

namespace hilbench {

class Condition {
 public:
  struct Node;
  Condition() = default;  // matches nothing
  // Throws UsageError with the column and what was expected there. Parameters: case_fields();
  // segment_length and dilation, for which one branch that satisfies the comparison is enough; branches,
  // the number of branches.
  static Condition parse(std::string_view text, const std::string& where);
  // Compares the parameters as `work` holds them: `device` is `auto` and `threads` is 0 if the sweep does
  // not give them.
  bool matches(const Case& work) const;
  const std::string& text() const { return text_; }

 private:
  std::shared_ptr<const Node> root_;
  std::string text_;
};

}  // namespace hilbench
