#include "reports/claims/claim_test.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kernels/case/windows.hpp"
#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claim_values.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 9> kTestKeys = {
    "compares", "case", "variant", "against", "control", "beside", "order_chunk", "dense", "level"};

// Every parameter of a case by name, as ids write it: "30x48x80", "true.false", "bf16".
std::map<std::string, std::string> parameters_of(const Case& work) {
  std::map<std::string, std::string> known;
  for (const Field<Case>& field : case_fields())
    known[std::string(field.name)] = field_text(field, field.get(work));
  for (const Field<WindowDimension>& field : window_fields())
    known[std::string(field.name)] = list_text(field, work.windows);
  std::vector<std::int64_t> segments, dilations;
  for (const Branch& branch : work.pattern) {
    segments.push_back(has_windows(work) ? 0 : branch.segment_length);
    dilations.push_back(has_windows(work) ? 0 : branch.dilation);
  }
  known["segments"] = fmt::format("{}", fmt::join(segments, "."));
  known["dilations"] = fmt::format("{}", fmt::join(dilations, "."));
  return known;
}

std::string value_text(const YamlValue& value, const std::string& key) {
  if (!value.is_list()) return value.text();
  std::string_view separator = ".";
  for (const Field<WindowDimension>& field : window_fields())
    if (field.name == key && field.kind == FieldKind::integer) separator = "x";
  std::vector<std::string> parts;
  for (const YamlValue& part : value.items()) parts.push_back(part.text());
  return fmt::format("{}", fmt::join(parts, separator));
}

// That of a row with two variants, one of which may stand for several.
void check_star(const YamlValue& test, const ComparedVariants& compared) {
  if (compared.against.any() != (compared.variant.any() && compared.against.named()))
    refuse_claim(test, "'*' without '*'", "`variant` is '*' if `against` is '*.OPTION'");
  if (compared.variant.any() && (!compared.variant.option.empty() || compared.against.id == "*"))
    refuse_claim(test, "a variant beside itself", "`variant` is '*', and `against` '*.OPTION'");
}

}  // namespace

ComparedVariants compared_of(const YamlValue& test) {
  check_keys(test, kTestKeys);
  ComparedVariants compared;
  const auto variant = test.find("variant");
  if (!variant)
    refuse_claim(test, "a test without variant", "it names `variant`, and `against` what it is compared");
  compared.variant = named_variant(*variant);
  if (const auto against = test.find("against")) compared.against = named_variant(*against);
  if (const auto control = test.find("control"))
    for (const YamlValue& each : control->scalar_or_items()) compared.controls.push_back(named_variant(each));
  if (const auto beside = test.find("beside")) compared.beside = named_variant(*beside);
  if (const auto chunk = test.find("order_chunk")) compared.order_chunk = integer_of(*chunk);
  check_star(test, compared);
  return compared;
}

ClaimTest test_of(const YamlValue& test) {
  ClaimTest read{.compares = text_of(test, "compares"), .work = {}, .dense = false, .level = {}};
  if (const auto dense = test.find("dense")) read.dense = boolean_of(*dense, "dense");
  if (test.find("level")) {
    std::vector<std::string_view> names;
    for (const MissLevel& each : miss_levels()) names.push_back(each.name);
    read.level = choice_of(test, "level", names);
  }
  const auto work = test.find("case");
  if (!work || !work->is_map()) refuse_claim(test, "a test without case", "it names what a case must have");
  const auto known = parameters_of(Case{});
  for (const auto& [key, wanted] : work->entries()) {
    if (known.count(key) == 0) refuse_claim(wanted, fmt::format("'{}' is no parameter of a case", key), "");
    read.work[key] = value_text(wanted, key);
  }
  return read;
}

void check_compared(const YamlValue& row, const ClaimRow& claim) {
  const ComparedVariants& compared = claim.compared;
  const auto refuse = [&](const char* what) {
    refuse_claim(
        row, what, "no record can answer it",
        "give `test: {variant: dilated/hilbert, against: dilated/linear}`, or the like, in the row, in "
        "its claim or at the head of the file");
  };
  if (!claim.untestable.empty()) return;
  if (!compared.variant.named()) refuse("row names no variant");
  if (claim.quantity == Quantity::longest) return;
  if (!compared.against.named()) refuse("row names nothing that its variant is compared with");
  if (claim.quantity == Quantity::communication &&
      (compared.variant.order.empty() || compared.against.order.empty()))
    refuse("row about bytes that rings send without two orders");
  if ((claim.quantity == Quantity::buffers) != compared.variant.any())
    refuse(compared.variant.any() ? "'*' in a row that is about no option"
                                  : "row about an option without '*'");
}

bool same_case(const ClaimTest& test, const Case& work) {
  const auto known = parameters_of(work);
  return std::all_of(test.work.begin(), test.work.end(),
                     [&](const auto& wanted) { return known.at(wanted.first) == wanted.second; });
}

}  // namespace hilbench
