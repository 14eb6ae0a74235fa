// A sweep: what a YAML file asks for, validated. YAML stops here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/sweep/condition.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

enum class ExternalUse { refused, allowed };

// A parameter of the case and the values it takes.
struct Axis {
  std::string name;                  // of case_fields(); "segments": values index Sweep::patterns
  std::vector<std::int64_t> values;  // distinct, as Field<Case>::set takes them
};

struct Sweep {
  std::filesystem::path file;
  std::string text;  // the file as read: kept with the records
  std::string name;  // [a-z0-9_-]+
  std::string title;
  std::string description;
  std::vector<Axis> axes;                     // in the file's order; none: `points` are all there is
  std::vector<std::vector<Branch>> patterns;  // segments paired with dilations
  std::vector<Case> points;                   // `cases:`, complete
  Condition skip_when;                        // empty: never
  std::vector<Variant> variants;              // kernels, then baselines; ids distinct
  std::string reference;                      // id of one of them
  Externals externals;                        // that `baselines` names
  ExternalUse external_use = ExternalUse::refused;
  Measure measure;
  std::vector<std::string> counters;  // set names
  Inputs inputs;
};

// What the command line changes in a sweep.
struct SweepOverrides {
  std::vector<std::string> axes;                    // "NAME=V,V"
  DeviceKind device = DeviceKind::automatic;        // --device
  ExternalUse external_use = ExternalUse::refused;  // --allow-external
};

// What NAME.PARAM may be for an order or a traversal.
enum class NameParam { none, chunk, positive, power_of_two, seed };  // chunk: `order_chunk` applies too
struct KnownName {
  std::string name;
  NameParam param = NameParam::none;
};
// The names that a sweep may use, as the program's tables hold them (core does not link kernels).
struct KnownNames {
  std::vector<std::string> kernels;    // aliases included
  std::vector<std::string> baselines;  // those with options as NAME and NAME.OPTION
  std::vector<std::string> externals;  // baselines that are programs this build brings
  std::vector<KnownName> orders;       // `file` takes its parameter from order_file
  std::vector<KnownName> traversals;
  std::vector<std::string> counters;  // sets
};

inline constexpr std::int64_t kMostCases = 1'000'000;
inline constexpr std::size_t kMostVariants = 1000;
inline constexpr std::size_t kMostSweepBytes = std::size_t{16} << 20;

// Reads and validates all of it, the .npy files that it names included. Throws UsageError naming file, line,
// key and the allowed values.
Sweep load_sweep(const std::filesystem::path& file, const SweepOverrides& overrides, const KnownNames& known);
// The same from text; `file` is only named in messages and anchors relative paths.
Sweep parse_sweep(const std::string& text, const std::filesystem::path& file, const SweepOverrides& overrides,
                  const KnownNames& known);

// Cases of a sweep in the file's order (last axis fastest), duplicates collapsed; kv_heads resolved, device
// not. `skipped` holds those that skip_when matches. Throws UsageError past a million cases.
struct SweepCase {
  Case work;
  bool skipped = false;
};
std::vector<SweepCase> cases_of(const Sweep& sweep);

// Why no variant could ever compute the case (more K/V heads than heads, a tensor past 2^62 bytes, ...), or
// "". load_sweep refuses such cases unless skip_when leaves them out.
std::string why_not(const Case& work);

}  // namespace hilbench
