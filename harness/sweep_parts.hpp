// The parts of parse_sweep (sweep.cpp): what the keys of a sweep file turn into.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/sweep.hpp"
#include "harness/yaml.hpp"

namespace hilbench {

// Options of a variant, kernel left out: what may stand under `axes` and in --axis too.
const std::vector<std::string>& variant_option_names();

// Every name that may stand under `axes`.
const std::vector<std::string>& axis_names();

// `--axis NAME=V,V`: the name, and its values in the form that `axes` takes.
struct AxisOverride {
  std::string name;
  std::string file;  // "--axis heads=8,16": what messages name
  YamlNode node;
  YamlValue value() const { return {node, file, name}; }
};
// Throws UsageError for a form other than NAME=V,V, an unknown name, or a name given twice.
std::vector<AxisOverride> parse_overrides(const SweepOverrides& overrides);

// Fills axes, patterns and points from `axes`, `cases` and the overrides. `place`: names the whole file.
struct CaseSource {
  std::optional<YamlValue> axes, cases;
};
void parse_cases(const CaseSource& source, std::span<const AxisOverride> overrides, const YamlValue& place,
                 Sweep& sweep);

// Fills variants. Options under `axes` and in the overrides are the default of entries that do not set them.
struct VariantSource {
  std::optional<YamlValue> axes, variants, baselines;
};
void parse_variants(const VariantSource& source, std::span<const AxisOverride> overrides,
                    const KnownNames& known, const YamlValue& place, Sweep& sweep);

// One pattern or a list of patterns, each a list of lengths (or rates) per branch.
std::vector<std::vector<std::int64_t>> branch_lists(const YamlValue& value, bool several);
// Pairs segments with dilations; a missing one takes its default. `place` is named where both are absent.
std::vector<std::vector<Branch>> paired_patterns(const std::optional<YamlValue>& segments,
                                                 const std::optional<YamlValue>& dilations, bool several);

}  // namespace hilbench
