// Reads NAME.PARAM of orders and traversals, and the permutation files of order `file`.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "harness/sweep/parts.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/traversals/traversal.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// The integers that NAME.PARAM takes; `help` describes them.
struct ParamRange {
  std::string_view help;
  std::int64_t least = 0, most = -1;
  bool power_of_two = false;
  bool holds(std::int64_t value) const {
    return value >= least && value <= most && (!power_of_two || (value & (value - 1)) == 0);
  }
};
constexpr ParamRange kNoParam{"takes no parameter"};
constexpr ParamRange kPositive{"takes an integer 1..2^40", 1, std::int64_t{1} << 40};

ParamRange range_of(const OrderInfo& order) {
  switch (order.param) {
    case OrderParam::none:
      return kNoParam;
    case OrderParam::chunk:
    case OrderParam::residue:
      return kPositive;
    case OrderParam::max_residue:
      return {"takes a power of two 1..2^40", 1, std::int64_t{1} << 40, true};
    case OrderParam::seed:
      return {"takes a seed 0..2^62", 0, std::int64_t{1} << 62};
    case OrderParam::box:
      return {"takes the extents of a box, 1..2^20 each: write NAME.A.B or NAME.A.B.C, such as boxes.8.16", 1,
              kLongestExtent};
  }
  return kNoParam;
}

ParamRange range_of(const TraversalInfo& traversal) {
  return traversal.has_param ? kPositive : kNoParam;
}

// The numbers of NAME.PARAM, or of NAME.A.B; empty if one of them is out of range or none.
std::vector<std::int64_t> params_of(std::string_view text, const ParamRange& range) {
  std::vector<std::int64_t> params;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const auto number = integer_of(text.substr(begin, end - begin));
    if (!number || !range.holds(*number)) return {};
    params.push_back(*number);
    begin = end + 1;
  }
  return params;
}

bool takes_box(const OrderInfo& order) {
  return order.param == OrderParam::box;
}
bool takes_box(const TraversalInfo&) {
  return false;
}

template <class Entry>
ParsedName parse_named(const YamlValue& value, std::string_view kind, std::span<const Entry> table) {
  const std::string text = value.text();
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string name = text.substr(0, dot);
  const auto entry =
      std::find_if(table.begin(), table.end(), [&](const Entry& each) { return each.name == name; });
  if (entry == table.end()) {
    std::vector<std::string> names;
    for (const Entry& each : table) names.emplace_back(each.name);
    fail_unknown(value, kind, name, names);
  }
  const bool box = takes_box(*entry);
  if (dot == text.size() && !box) return {name, std::nullopt, {}};
  const ParamRange range = range_of(*entry);
  const std::vector<std::int64_t> params = dot == text.size()
                                               ? std::vector<std::int64_t>{}
                                               : params_of(std::string_view(text).substr(dot + 1), range);
  if (box ? params.size() != 2 && params.size() != 3 : params.size() != 1)
    value.fail(fmt::format("{} '{}' {}", kind, name, range.help),
               fmt::format("found '{}'", one_line(text, 80)));
  if (box) return {name, std::nullopt, params};
  return {name, params.front(), {}};
}

std::uint32_t content_hash(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::uint32_t hash = kFnvBasis32;
  std::vector<char> bytes(1 << 16);
  while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || in.gcount() > 0)
    hash = fnv1a_32({bytes.data(), static_cast<std::size_t>(in.gcount())}, hash);
  return hash;
}

std::string bijection_fault(const std::vector<std::int64_t>& slots) {
  std::vector<bool> taken(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < 0 || slots[i] >= static_cast<std::int64_t>(slots.size()))
      return fmt::format("position {} has slot {}, slots are 0..{}", i, slots[i], slots.size() - 1);
    if (taken[static_cast<std::size_t>(slots[i])]) return fmt::format("slot {} is taken twice", slots[i]);
    taken[static_cast<std::size_t>(slots[i])] = true;
  }
  return "";
}

}  // namespace

ParsedName parse_order(const YamlValue& value) {
  return parse_named(value, "order", orders());
}

ParsedName parse_traversal(const YamlValue& value) {
  return parse_named(value, "traversal", traversals());
}

PermutationFile read_permutation(const YamlValue& value, const Sweep& sweep) {
  const fs::path file = (fs::absolute(sweep.file).parent_path() / value.text()).lexically_normal();
  const auto checked = [&](auto read) {
    try {
      return read(file);
    } catch (const UsageError& error) {
      value.fail("order_file cannot be used", error.what());
    }
  };
  // The shape is read first: a file that no case can use is refused even if it does not fit into memory.
  const std::vector<std::int64_t> shape = checked(read_npy_shape);
  for (const SweepCase& each : sweep.cases)
    if (shape.size() == 1 && !each.skipped && each.work.sequence_length != shape[0])
      value.fail(fmt::format("order_file has {} positions", shape[0]),
                 fmt::format("a case has sequence_length {}", each.work.sequence_length));
  const std::string fault = bijection_fault(checked(read_npy_integers));
  if (!fault.empty()) value.fail("order_file is no bijection", fault);
  return {file, content_hash(file)};
}

}  // namespace hilbench
