#include "reports/gate/lone_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kNamed = 5;

}  // namespace

void LoneCases::add(std::string_view case_id, std::string_view variant_id, bool whole) {
  Lone& lone = cases_[std::string(case_id)];
  lone.whole = whole;
  const auto at = std::find(lone.variants.begin(), lone.variants.end(), variant_id);
  if (at == lone.variants.end()) lone.variants.emplace_back(variant_id);
}

std::size_t LoneCases::variants() const {
  std::size_t count = 0;
  for (const auto& [case_id, lone] : cases_) count += lone.variants.size();
  return count;
}

std::string LoneCases::names() const {
  std::vector<std::string> named;
  for (const auto& [case_id, lone] : cases_) {
    if (named.size() == kNamed) break;
    named.push_back(lone.whole ? case_id : fmt::format("{} ({})", case_id, fmt::join(lone.variants, ", ")));
  }
  std::string text = fmt::format("{}", fmt::join(named, ", "));
  if (const std::size_t rest = cases_.size() - named.size(); rest > 0)
    text += fmt::format(" and {}", plural(rest, "more case", "more cases"));
  return text;
}

}  // namespace hilbench
