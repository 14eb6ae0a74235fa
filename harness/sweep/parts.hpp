// The parts of parse_sweep (sweep.cpp): what the keys of a sweep file turn into.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/yaml.hpp"

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

// The cases that `axes`, `cases` and the overrides describe, less those that are there already. Impossible
// ones must be left out by `skip_when`. `place`: names the whole file.
struct CaseSource {
  std::optional<YamlValue> axes, cases;
};
std::vector<SweepCase> parse_cases(const CaseSource& source, std::span<const AxisOverride> overrides,
                                   const YamlValue& place, const Condition& skip_when);

// A parameter of the case and the values it takes.
struct Axis {
  std::string name;                  // of case_fields(); "segments": values index CaseSpace::patterns
  std::vector<std::int64_t> values;  // distinct, as Field<Case>::set takes them
};
// Cases before they are listed: the product of `axes`, then `points`.
struct CaseSpace {
  std::vector<Axis> axes;                     // none: `points` are all there is
  std::vector<std::vector<Branch>> patterns;  // segments paired with dilations
  std::vector<Case> points;                   // `cases:`, complete
};
// At most kMostCases; duplicates collapsed, `skipped` as `skip_when` says.
std::vector<SweepCase> list_cases(const CaseSpace& space, const Condition& skip_when);

// Fills variants. Options under `axes` and in the overrides are the default of entries that do not set them.
struct VariantSource {
  std::optional<YamlValue> axes, variants, baselines;
};
void parse_variants(const VariantSource& source, std::span<const AxisOverride> overrides,
                    const YamlValue& place, Sweep& sweep);

// `external`: programs by the names that `baselines` may use.
Externals parse_externals(const YamlValue& value, const std::filesystem::path& file);

// The name of a baseline, which may be NAME.OPTION of an external one; a program that this build brings is
// noted in `sweep` with it.
std::string checked_baseline(const YamlValue& value, Sweep& sweep);
// What `baselines` may name of this build: those with options as NAME and NAME.OPTION.
const std::vector<std::string>& baseline_names();

// NAME or NAME.PARAM, checked against the tables of orders and of traversals.
struct ParsedName {
  std::string name;
  std::optional<std::int64_t> param;
};
ParsedName parse_order(const YamlValue& value);
ParsedName parse_traversal(const YamlValue& value);

// Reads order_file: a bijection as long as every case that will run, else UsageError. The path is absolute.
struct PermutationFile {
  std::filesystem::path file;
  std::uint32_t hash = 0;  // FNV-1a of its bytes
};
PermutationFile read_permutation(const YamlValue& value, const Sweep& sweep);

// One pattern or a list of patterns, each a list of lengths (or rates) per branch.
std::vector<std::vector<std::int64_t>> branch_lists(const YamlValue& value, bool several);
// Pairs segments with dilations, of which one may be missing; equal patterns once. `spread`: a single pattern
// of one pairs with each of the other, as --axis wants it.
enum class Pairing { one_to_one, spread };
std::vector<std::vector<Branch>> paired_patterns(const std::optional<YamlValue>& segments,
                                                 const std::optional<YamlValue>& dilations, Pairing pairing);

}  // namespace hilbench
