// Finds variants by their names. One source file includes <regex>, which takes long to compile.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace hilbench {

// A regular expression (ECMAScript) that is searched in CASE/VARIANT; its length and its running time are
// bounded.
class VariantFilter {
 public:
  VariantFilter() = default;  // finds every variant
  // Throws UsageError, which names `option`, if it is not a regular expression.
  explicit VariantFilter(const std::string& expression, std::string_view option = "--filter");
  bool finds(const std::string& case_id, const std::string& variant_id) const;

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
};

}  // namespace hilbench
