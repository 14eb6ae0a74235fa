#include "reports/claims/named_variant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kEveryKernel = "dilated";

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char separator) {
  Words parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Words words_of(std::span<const VariantOption> options, IdPart part) {
  Words words;
  for (const VariantOption& option : options)
    if (option.id == part)
      for (const std::string_view word : option.choices) words.push_back(word);
  return words;
}

const VariantOption& option_named(std::string_view name) {
  return *std::ranges::find(variant_fields(), name, &VariantOption::name);
}

// Where an id without a traversal has one, the algorithm of a ring may stand.
bool is_ring_algorithm(std::string_view part) {
  const auto& algorithms = option_named("ring_algorithm").choices;
  return std::ranges::find(algorithms, split(part, '.')[0]) != algorithms.end();
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void refuse(const YamlValue& value, std::string what, std::string why, std::string remedy = {}) {
  throw UsageError({std::move(what), value.where(), std::move(why), std::move(remedy)});
}

// One id, piece by piece. Each piece that is unknown is refused with what it may be.
class Checked {
 public:
  Checked(const YamlValue& value, std::string_view id) : value_(value), id_(id) {}

  void one_of(std::string_view what, std::string_view word, const Words& allowed) const {
    if (std::ranges::find(allowed, word) != allowed.end()) return;
    const std::string near = nearest_name(word, allowed);
    refuse(value_,
           fmt::format("unknown {} '{}' in variant '{}'", what, one_line(word, 40), one_line(id_, 60)),
           fmt::format("allowed: {}", fmt::join(allowed, ", ")),
           near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  void options(Words words) const {
    const Words allowed = words_of(variant_fields(), IdPart::order);
    for (const std::string_view word : words)
      if (!is_number(word)) one_of("option", word, allowed);
  }
  // "hilbert.4096.qkv@tokens"
  void order(std::string_view part) const {
    const Words scopes = split(part, '@');
    if (scopes.size() > 1)
      one_of("scope", scopes[1],
             {option_named("order_scope").choices.begin(), option_named("order_scope").choices.end()});
    const Words words = split(scopes[0], '.');
    if (words[0].empty())
      refuse(value_, fmt::format("no order in variant '{}'", one_line(id_, 60)), "it is KERNEL/ORDER");
    options({words.begin() + 1, words.end()});
  }

 private:
  const YamlValue& value_;
  std::string_view id_;
};

}  // namespace

NamedVariant named_variant(const YamlValue& value) {
  if (!value.is_scalar() || value.text().empty())
    refuse(value, "no id of a variant", "it is text like 'dilated/hilbert'");
  NamedVariant named;
  named.id = one_line(value.text(), 200);
  named.place = value.where();
  const Checked check(value, named.id);
  const Words parts = split(named.id, '/');
  if (named.any()) {
    if (named.id != "*") {
      if (!named.id.starts_with("*."))
        refuse(value, fmt::format("unknown variant '{}'", one_line(named.id, 60)),
               "behind '*' comes nothing, or '.' and an option");
      named.option = named.id.substr(2);
      check.one_of("option", named.option, words_of(variant_fields(), IdPart::order));
    }
    return named;
  }
  if (parts.size() == 1) return named;
  check.order(parts[1]);
  named.kernel = parts[0];
  if (parts.size() > 2 && !is_ring_algorithm(parts[2])) named.traversal = split(parts[2], '.')[0];
  named.order = split(split(parts[1], '@')[0], '.')[0];
  return named;
}

bool is_of(const Record& record, const NamedVariant& named) {
  if (record.variant_id == named.id) return true;
  if (named.kernel != kEveryKernel || record.variant.is_baseline() ||
      record.variant.kernel().order != named.order)
    return false;
  Variant variant = record.variant;
  KernelChoice& kernel = variant.change();
  kernel.name = kEveryKernel;
  kernel.chunk_in_id = false;
  if (variant_id(variant) == named.id) return true;
  kernel.order_param.reset();
  return variant_id(variant) == named.id;
}

std::string order_or_id(const NamedVariant& variant) {
  return variant.order.empty() ? variant.id : variant.order;
}

}  // namespace hilbench
