// Reads `variants`, `baselines`, and the options of variants under `axes` and in --axis.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "baselines/table.hpp"
#include "harness/sweep/parts.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

bool takes_chunk(const Variant& variant) {
  const OrderInfo* order = find_order(variant.kernel().order);
  return order != nullptr && order->param == OrderParam::chunk;
}

// One value of an option, as a change to a variant.
using Setting = std::function<void(Variant&)>;

class VariantParser {
 public:
  explicit VariantParser(const Sweep& sweep) : sweep_(sweep) {}

  // Every combination of an entry's options, each once. `options` already includes the defaults.
  std::vector<Variant> expand(const YamlValue& entry, const std::map<std::string, YamlValue>& options) const {
    if (!options.contains("kernel")) entry.fail("kernel missing", "a variant needs one", "kernel: dilated");
    std::vector<Variant> variants(1);
    for (const std::string& name : names()) {
      const auto option = options.find(name);
      if (option == options.end()) continue;
      const std::vector<Setting> values = settings(name, option->second);
      if (variants.size() * values.size() > kMostVariants)
        option->second.fail(fmt::format("more than {} variants", kMostVariants));
      std::vector<Variant> multiplied;
      for (const Variant& variant : variants)
        for (const Setting& set : values) {
          multiplied.push_back(variant);
          set(multiplied.back());
        }
      variants = std::move(multiplied);
    }
    check_order_file(entry, variants);
    return distinct(variants);
  }

  // Refuses a value that the option does not have, also if no entry takes it.
  void check(const std::string& name, const YamlValue& value) const { settings(name, value); }

  static const std::vector<std::string>& names() {
    static const std::vector<std::string> kNames = [] {
      std::vector<std::string> all = {"kernel"};
      all.insert(all.end(), variant_option_names().begin(), variant_option_names().end());
      return all;
    }();
    return kNames;
  }

 private:
  std::vector<Setting> settings(const std::string& name, const YamlValue& value) const {
    std::vector<Setting> all;
    if (name == "order_chunk") return chunk_settings(value);
    if (const Field<Variant>* field = find_field(variant_fields(), name)) {
      for (const std::int64_t each : field_values(value, *field))
        all.push_back([field, each](Variant& variant) { field->set(variant, each); });
      return all;
    }
    for (const YamlValue& item : value.scalar_or_items()) {
      if (name == "kernel")
        all.push_back(kernel_setting(item));
      else if (name == "order")
        all.push_back(order_setting(item));
      else if (name == "traversal")
        all.push_back(traversal_setting(item));
      else
        all.push_back(order_file_setting(item));
    }
    return all;
  }

  Setting kernel_setting(const YamlValue& value) const {
    const std::string name = value.text();
    const std::vector<std::string>& baselines = baseline_names();
    if (std::find(baselines.begin(), baselines.end(), name) != baselines.end())
      value.fail(fmt::format("'{}' is a baseline", name), "", "list it under baselines");
    const std::vector<std::string_view> built = kernel_names();
    std::vector<std::string> kernels(built.begin(), built.end());
    for (const auto& [declared, program] : sweep_.externals) {
      if (program.kind == ImplementationKind::kernel)
        kernels.push_back(declared);
      else if (declared == name)
        value.fail(fmt::format("'{}' is a baseline", name), "", "list it under baselines");
    }
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end())
      fail_unknown(value, "kernel", name, kernels);
    return [name](Variant& variant) { variant.change().name = name; };
  }
  Setting order_setting(const YamlValue& value) const {
    const ParsedName order = parse_order(value);
    return [order](Variant& variant) {
      KernelChoice& kernel = variant.change();
      kernel.order = order.name;
      kernel.order_param = order.param;
      kernel.order_box = order.box;
    };
  }
  Setting traversal_setting(const YamlValue& value) const {
    const ParsedName traversal = parse_traversal(value);
    return [traversal](Variant& variant) {
      variant.change().traversal = traversal.name;
      variant.change().traversal_param = traversal.param;
    };
  }
  Setting order_file_setting(const YamlValue& value) const {
    const PermutationFile permutation = read_permutation(value, sweep_);
    return [permutation](Variant& variant) {
      if (variant.kernel().order != "file") return;
      variant.change().order_file = permutation.file;
      variant.change().order_file_hash = permutation.hash;
    };
  }
  // Only curves take a chunk. A chunk in the order's own parameter has priority.
  std::vector<Setting> chunk_settings(const YamlValue& value) const {
    const std::vector<std::int64_t> chunks = value.integers(1, std::int64_t{1} << 40);
    std::vector<Setting> all;
    for (const std::int64_t chunk : chunks)
      all.push_back([chunk, several = chunks.size() > 1](Variant& variant) {
        if (!takes_chunk(variant) || variant.kernel().order_param) return;
        variant.change().order_chunk = chunk;
        variant.change().chunk_in_id = several;
      });
    return all;
  }

  // Order `file` needs the option order_file, and no other order takes it.
  static void check_order_file(const YamlValue& entry, const std::vector<Variant>& variants) {
    bool uses_file = false;
    for (const Variant& variant : variants) {
      const bool from_file = variant.kernel().order == "file";
      uses_file = uses_file || from_file;
      if (from_file && variant.kernel().order_file.empty())
        entry.fail("order_file missing", "order `file` reads its slots from one", "order_file: slots.npy");
    }
    for (const auto& [name, value] : entry.entries(names()))
      if (name == "order_file" && !uses_file)
        value.fail("order_file without order `file`", "no other order reads one", "order: file");
  }
  static std::vector<Variant> distinct(const std::vector<Variant>& variants) {
    std::vector<Variant> kept;
    for (const Variant& variant : variants)
      if (std::find(kept.begin(), kept.end(), variant) == kept.end()) kept.push_back(variant);
    return kept;
  }

  const Sweep& sweep_;
};

// Adds variants and refuses equal ids.
class VariantList {
 public:
  explicit VariantList(Sweep& sweep) : sweep_(sweep) {}

  void add(const YamlValue& place, const Variant& variant) {
    const std::string id = variant_id(variant);
    const auto [at, is_new] = index_.try_emplace(id, sweep_.variants.size());
    if (!is_new) fail_same_id(place, id, sweep_.variants[at->second], variant);
    sweep_.variants.push_back(variant);
    if (sweep_.variants.size() > kMostVariants)
      place.fail(fmt::format("more than {} variants", kMostVariants));
  }

 private:
  static std::string described(const Variant& variant) {
    const KernelChoice& kernel = variant.kernel();
    std::string text = kernel.order;
    if (kernel.order_chunk != 0) text += fmt::format(" with order_chunk {}", kernel.order_chunk);
    if (!kernel.order_file.empty()) text += fmt::format(" of {}", kernel.order_file.filename().string());
    if (variant.ring.transport != TransportKind::automatic)
      text += fmt::format(" over {}", to_string(variant.ring.transport));
    return text;
  }
  [[noreturn]] static void fail_same_id(const YamlValue& place, const std::string& id, const Variant& first,
                                        const Variant& second) {
    const std::string what = fmt::format("two variants with the id '{}'", id);
    if (first == second) place.fail(what, "the same variant is listed twice", "remove one");
    const std::int64_t own = second.kernel().order_chunk;
    const std::int64_t chunk = own != 0 ? own : first.kernel().order_chunk;
    place.fail(what, fmt::format("{}, and {}", described(first), described(second)),
               chunk != 0 ? fmt::format("write the chunk into the order to tell them apart: {}.{}",
                                        second.kernel().order, chunk)
                          : "remove one");
  }

  Sweep& sweep_;
  std::map<std::string, std::size_t> index_;
};

void check_option_used(const AxisOverride& axis, const std::vector<YamlValue>& entries) {
  for (const YamlValue& entry : entries) {
    bool sets_it = false;
    for (const auto& [name, value] : entry.entries(VariantParser::names()))
      sets_it = sets_it || name == axis.name;
    if (!sets_it) return;
  }
  axis.value().fail("changes nothing", "every entry of `variants` sets it itself");
}

// The options under `axes` and in --axis, which are the defaults of every entry.
std::map<std::string, YamlValue> option_defaults(const VariantSource& source,
                                                 std::span<const AxisOverride> overrides,
                                                 const std::vector<YamlValue>& entries) {
  const auto& option_names = variant_option_names();
  const auto is_option = [&](const std::string& name) {
    return std::find(option_names.begin(), option_names.end(), name) != option_names.end();
  };
  std::map<std::string, YamlValue> defaults;
  if (source.axes)
    for (auto& [name, value] : source.axes->entries(axis_names()))
      if (is_option(name)) defaults.insert_or_assign(name, value);
  for (const AxisOverride& axis : overrides) {
    if (!is_option(axis.name)) continue;
    check_option_used(axis, entries);
    defaults.insert_or_assign(axis.name, axis.value());
  }
  return defaults;
}

// NAME, or {NAME: cpu} or {NAME: cuda}.
Variant parse_baseline(const YamlValue& value, Sweep& sweep) {
  static constexpr std::string_view kDevices[] = {"cpu", "cuda"};
  if (!value.is_map()) return {BaselineName{checked_baseline(value, sweep)}};
  const auto entries = value.entries();
  if (entries.size() != 1)
    value.fail("a baseline of one device is one name with its device", "", "baselines: [{cudnn: cuda}]");
  const Variant variant{BaselineName{checked_baseline(value.key(0), sweep)}};
  sweep.only_on[variant_id(variant)] =
      entries.front().second.choice(kDevices) == 0 ? DeviceKind::cpu : DeviceKind::cuda;
  return variant;
}

// A default of all entries is used if the orders of one of them have chunks.
void refuse_unused_chunk(const std::optional<YamlValue>& chunk, const std::vector<Variant>& variants) {
  if (!chunk || std::any_of(variants.begin(), variants.end(), takes_chunk)) return;
  std::vector<std::string_view> names;
  for (const OrderInfo& order : orders())
    if (order.param == OrderParam::chunk) names.push_back(order.name);
  chunk->fail("order_chunk without an order that has chunks",
              fmt::format("the orders that have them are {}", fmt::join(names, ", ")),
              "leave order_chunk out");
}

bool has_only_grids(const Sweep& sweep) {
  std::int64_t grids = 0, sequences = 0;
  for (const SweepCase& each : sweep.cases)
    if (!each.skipped) ++(has_grid(each.work) ? grids : sequences);
  return grids > 0 && sequences == 0;
}

// A chunk is a stretch of a sequence. If only some cases have a grid, the plan skips the variant for these,
// as it does with other orders that a grid does not have.
void refuse_chunk_on_grids(const std::map<std::string, YamlValue>& options,
                           const std::vector<Variant>& variants) {
  constexpr std::string_view kWhat = "order_chunk does not apply to grids",
                             kWhy = "a chunk is a stretch of a sequence";
  if (const auto chunk = options.find("order_chunk"); chunk != options.end())
    chunk->second.fail(std::string(kWhat), std::string(kWhy), "leave order_chunk out");
  for (const Variant& variant : variants) {
    const KernelChoice& kernel = variant.kernel();
    if (takes_chunk(variant) && kernel.order_param)
      options.at("order").fail(fmt::format("order {}.{}", kernel.order, *kernel.order_param),
                               fmt::format("{}: {}", kWhat, kWhy),
                               fmt::format("write order: {}", kernel.order));
  }
}

}  // namespace

const std::vector<std::string>& variant_option_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"order", "order_chunk", "order_file", "traversal"};
    for (const Field<Variant>& field : variant_fields()) names.emplace_back(field.name);
    return names;
  }();
  return kNames;
}

bool is_asked_on(const Sweep& sweep, const Variant& variant, DeviceKind device) {
  const auto only = sweep.only_on.find(variant_id(variant));
  return only == sweep.only_on.end() || only->second == device;
}

void parse_variants(const VariantSource& source, std::span<const AxisOverride> overrides,
                    const YamlValue& place, Sweep& sweep) {
  const std::vector<YamlValue> entries =
      source.variants ? source.variants->items() : std::vector<YamlValue>{};
  const std::map<std::string, YamlValue> defaults = option_defaults(source, overrides, entries);
  const VariantParser parser(sweep);
  for (const auto& [name, value] : defaults) parser.check(name, value);
  const bool only_grids = has_only_grids(sweep);
  VariantList list(sweep);
  for (const YamlValue& entry : entries) {
    std::map<std::string, YamlValue> options = defaults;
    for (auto& [name, value] : entry.entries(VariantParser::names())) options.insert_or_assign(name, value);
    const std::vector<Variant> variants = parser.expand(entry, options);
    if (only_grids) refuse_chunk_on_grids(options, variants);
    refuse_unused_chunk(entry.find("order_chunk"), variants);
    for (const Variant& variant : variants) list.add(entry, variant);
  }
  if (const auto chunk = defaults.find("order_chunk"); chunk != defaults.end())
    refuse_unused_chunk(chunk->second, sweep.variants);
  if (source.baselines)
    for (const YamlValue& item :
         source.baselines->is_list() ? source.baselines->items() : source.baselines->scalar_or_items())
      list.add(item, parse_baseline(item, sweep));
  std::erase_if(sweep.externals, [&](const auto& each) {
    return std::none_of(sweep.variants.begin(), sweep.variants.end(),
                        [&](const Variant& variant) { return external_name(variant.name()) == each.first; });
  });
  if (sweep.variants.empty())
    place.fail("no variant to measure", "neither variants nor baselines name one",
               "variants: [{kernel: dilated, order: [linear, hilbert]}]");
}

}  // namespace hilbench
