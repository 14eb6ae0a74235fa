#include "kernels/case/variant_filter.hpp"

#include <fmt/format.h>

#include <regex>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

// libstdc++'s executor that follows all states at once: for any expression, its time is bounded by text
// length times states.
constexpr std::regex::flag_type kRegexFlags = std::regex::ECMAScript
#ifdef __GLIBCXX__
                                              | std::regex_constants::__polynomial
#endif
    ;

}  // namespace

struct VariantFilter::Expression {
  std::regex regex;
};

VariantFilter::VariantFilter(const std::string& expression, std::string_view option) {
  constexpr std::size_t kLongest = 1000;
  if (expression.size() > kLongest)
    throw UsageError({.what = "regular expression too long",
                      .where = std::string(option),
                      .why = fmt::format("at most {} characters", kLongest)});
  try {
    expression_ = std::make_shared<const Expression>(Expression{std::regex(expression, kRegexFlags)});
  } catch (const std::regex_error& error) {
    throw UsageError({.what = fmt::format("bad regular expression '{}'", expression),
                      .where = std::string(option),
                      .why = error.what()});
  }
}

bool VariantFilter::finds(const std::string& case_id, const std::string& variant_id) const {
  return !expression_ || std::regex_search(case_id + "/" + variant_id, expression_->regex);
}

}  // namespace hilbench
