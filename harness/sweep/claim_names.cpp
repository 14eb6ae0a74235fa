#include "harness/sweep/claim_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/traversals/traversal.hpp"

namespace hilbench {
namespace {

template <class Infos>
void check_name(const NamedVariant& named, std::string_view kind, const std::string& word,
                const Infos& infos) {
  std::vector<std::string_view> names;
  for (const auto& info : infos) names.push_back(info.name);
  if (word.empty() || std::ranges::find(names, word) != names.end()) return;
  const std::string near = nearest_name(word, names);
  throw UsageError({.what = fmt::format("unknown {} '{}' in variant '{}'", kind, one_line(word, 40),
                                        one_line(named.id, 60)),
                    .where = named.place,
                    .why = fmt::format("allowed: {}", fmt::join(names, ", ")),
                    .remedy = near.empty() ? "" : fmt::format("did you mean '{}'?", near)});
}

void check_names(const NamedVariant& named) {
  check_name(named, "order", named.order, orders());
  check_name(named, "traversal", named.traversal, traversals());
}

}  // namespace

void check_claim_names(const std::vector<ClaimRow>& claims) {
  for (const ClaimRow& claim : claims) {
    const ComparedVariants& compared = claim.compared;
    for (const NamedVariant* named : {&compared.variant, &compared.against, &compared.beside})
      check_names(*named);
    for (const NamedVariant& named : compared.controls) check_names(named);
  }
}

}  // namespace hilbench
