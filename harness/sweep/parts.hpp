// The parts of parse_sweep (sweep.cpp): each reads some keys of a sweep file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/sweep/embedded.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/yaml.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {

// The options of a variant except `kernel`. `axes` and --axis may set them too.
const std::vector<std::string>& variant_option_names();

// Every name that `axes` may contain.
const std::vector<std::string>& axis_names();

// `--axis NAME=V,V`: the name, and the values in the form in which `axes` gives them.
struct AxisOverride {
  std::string name;
  std::string file;  // "--axis heads=8,16": the place that messages name
  YamlNode node;
  YamlValue value() const { return {node, file, name}; }
};
// Throws UsageError if a text is not NAME=V,V, or if a name is unknown or given twice.
std::vector<AxisOverride> parse_overrides(const SweepOverrides& overrides);

// The parameters that `inputs` may give to all cases: score_scale and data.
const std::vector<std::string>& input_parameters();

// The cases that `axes`, `cases`, `inputs` and the overrides describe, each once. Throws UsageError for an
// impossible case that `skip_when` does not skip. `place` names the whole file in messages.
class MaskFiles;
struct CaseSource {
  std::optional<YamlValue> axes, cases, inputs;
  MaskFiles& masks;
};
std::vector<SweepCase> parse_cases(const CaseSource& source, std::span<const AxisOverride> overrides,
                                   const YamlValue& place, const Condition& skip_when);

// A parameter of the case, and its values.
struct Axis {
  std::string name;  // of case_fields(); or "segments" or "grid": the values then are indices into Patterns
  std::vector<std::int64_t> values;  // distinct; in the form that Field<Case>::set takes
};
// Windows on a grid, or a mask, which may have a grid.
struct WindowPattern {
  std::vector<WindowDimension> dimensions;
  MaskBlocks mask;
};
// The patterns that axes choose from: branches or windows, not both.
struct Patterns {
  std::vector<std::vector<Branch>> branches;  // segments with their dilations
  std::vector<WindowPattern> windows;
};
// Cases before they are listed: all combinations of `axes`, then `points`.
struct CaseSpace {
  std::vector<Axis> axes;  // empty: there are only `points`
  Patterns patterns;
  std::vector<Case> points;  // `cases:`, complete
};
// Each case once, at most kMostCases, marked `skipped` if `skip_when` matches it.
std::vector<SweepCase> list_cases(const CaseSpace& space, const Condition& skip_when);

// Fills Sweep::variants. Options under `axes` and in the overrides are defaults for entries that do
// not set them.
struct VariantSource {
  std::optional<YamlValue> axes, variants, baselines;
};
void parse_variants(const VariantSource& source, std::span<const AxisOverride> overrides,
                    const YamlValue& place, Sweep& sweep);

// `external`: programs, by the names that `baselines` may use.
Externals parse_externals(const YamlValue& value, const std::filesystem::path& file);
// `kernels`: those of the user, by the names that a variant's `kernel` may use. They are added to
// Sweep::externals.
void parse_kernels(const YamlValue& value, Sweep& sweep);

// The name of a baseline, or NAME.OPTION of an external one. If it is an external program of this build, it
// is added to Sweep::externals.
std::string checked_baseline(const YamlValue& value, Sweep& sweep);
// The baselines of this build that `baselines` may name; those with options as NAME and NAME.OPTION.
const std::vector<std::string>& baseline_names();

// NAME, NAME.PARAM or boxes.A.B[.C], checked against the table of orders or of traversals.
struct ParsedName {
  std::string name;
  std::optional<std::int64_t> param;
  std::vector<std::int64_t> box;
};
ParsedName parse_order(const YamlValue& value);
ParsedName parse_traversal(const YamlValue& value);

// Reads order_file. Throws UsageError unless it is a bijection that is as long as every case that will run.
// The path in the result is absolute.
struct PermutationFile {
  std::filesystem::path file;
  std::uint32_t hash = 0;  // FNV-1a hash of its bytes
};
PermutationFile read_permutation(const YamlValue& value, const Sweep& sweep);

// One pattern or a list of patterns. A pattern is a list of lengths (or rates), one for each branch.
std::vector<std::vector<std::int64_t>> branch_lists(const YamlValue& value, bool several);
// The lists of one entry for each dimension that `value` gives for `grid`, `window` ...: one list, or with
// `several` a list of lists.
std::vector<std::vector<std::int64_t>> dimension_lists(const YamlValue& value,
                                                       const Field<WindowDimension>& field, bool several);
// The product of the lists of `given`, by name; not empty. Throws UsageError if `grid` or `window` is
// missing where there is no mask, or if numbers of entries differ.
std::vector<WindowPattern> window_patterns(const std::map<std::string, YamlValue>& given, MaskFiles& masks);

// The masks of one sweep; each file is read once.
class MaskFiles {
 public:
  // Of the sweep in `file`, even if it is not there: relative paths start at its folder.
  explicit MaskFiles(std::filesystem::path file) : sweep_(std::move(file)) {}
  // Of a sweep that the program holds: so are its masks. Others are files, of the working folder.
  explicit MaskFiles(const EmbeddedSweep& sweep) : sweep_(sweep.name()), folder_(sweep.folder()) {}
  // The blocks of the file that `value` names. Throws UsageError.
  std::shared_ptr<const BlockBits> read(const YamlValue& value);

 private:
  std::filesystem::path sweep_;
  std::string folder_;  // of the embedded sweep: "sweeps/windows"; empty: none
  std::map<std::filesystem::path, std::shared_ptr<const BlockBits>> known_;
};

// A parameter of `axes`, of an entry of `cases` or of --axis.
struct NamedValue {
  std::string name;
  YamlValue value;
};
std::optional<YamlValue> value_named(const std::vector<NamedValue>& values, std::string_view name);

// Pairs `segments` with `dilations` of `values`, pattern by pattern; what one of them does not say,
// `patterns` says. A single pattern of segments is paired with each of dilations. Equal patterns appear once.
// `spread`, for
// --axis: a single pattern of dilations is paired with each of segments too.
enum class Pairing { one_to_one, spread };
std::vector<std::vector<Branch>> paired_patterns(const std::vector<NamedValue>& values, Pairing pairing);

// True for segments, dilations, patterns, mask, mask_block and the names of window_fields().
bool names_pattern(std::string_view name);
// Throws UsageError if the value of such a name is a list of patterns.
void check_one_pattern(std::string_view name, const YamlValue& value);
// The patterns that `values` describe. Throws UsageError if they are both of branches and of windows.
Patterns read_patterns(const std::vector<NamedValue>& values, Pairing pairing, MaskFiles& masks);

// The chain, what it says was claimed of each case, and how scripts time its ends. The variants, cases and
// reference of the sweep must be known. Throws UsageError if a step is no variant of the sweep, comes twice,
// or differs from the one before in more than one option. `as_written`: no override made the cases others
// than those in the file.
void parse_chain(const YamlValue& value, bool as_written, Sweep& sweep);

}  // namespace hilbench
