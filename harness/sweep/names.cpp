#include "harness/sweep/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/table.hpp"
#include "harness/counters/counters.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/traversals/traversal.hpp"

namespace hilbench {
namespace {

NameParam param_of(OrderParam param) {
  switch (param) {
    case OrderParam::none:
      return NameParam::none;
    case OrderParam::chunk:
      return NameParam::chunk;
    case OrderParam::residue:
      return NameParam::positive;
    case OrderParam::max_residue:
      return NameParam::power_of_two;
    case OrderParam::seed:
      return NameParam::seed;
  }
  return NameParam::none;
}

}  // namespace

KnownNames known_names() {
  KnownNames names;
  for (const std::string_view kernel : kernel_names()) names.kernels.emplace_back(kernel);
  for (const Implementation* implementation : implementation_table()) {
    const bool listed = std::find(names.baselines.begin(), names.baselines.end(), implementation->name) !=
                        names.baselines.end();
    if (implementation->kind == ImplementationKind::baseline &&
        !listed)  // one of a name for each kind of device
      names.baselines.emplace_back(implementation->name);
    for (const std::string_view option : implementation->options)
      names.baselines.push_back(fmt::format("{}.{}", implementation->name, option));
    if (implementation->external) names.externals.emplace_back(implementation->name);
  }
  for (const OrderInfo& order : orders())
    names.orders.push_back({std::string(order.name), param_of(order.param)});
  for (const TraversalInfo& traversal : traversals())
    names.traversals.push_back(
        {std::string(traversal.name), traversal.has_param ? NameParam::positive : NameParam::none});
  for (const CounterSet& set : counter_sets())  // one of a name for each kind of device
    if (std::find(names.counters.begin(), names.counters.end(), set.name) == names.counters.end())
      names.counters.push_back(set.name);
  return names;
}

}  // namespace hilbench
