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

// A case of a sweep: kv_heads resolved, device not.
struct SweepCase {
  Case work;
  bool skipped = false;  // skip_when matches
};

struct Sweep {
  std::filesystem::path file;
  std::string text;  // the file as read: kept with the records
  std::string name;  // [a-z0-9_-]+
  std::string title;
  std::string description;
  std::vector<SweepCase> cases;   // in the file's order (last axis fastest), then those of `cases:`; distinct
  Condition skip_when;            // empty: never
  std::vector<Variant> variants;  // kernels, then baselines; ids distinct
  std::string reference;          // id of one of them
  Externals externals;            // that `baselines` names
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

inline constexpr std::int64_t kMostCases = 1'000'000;
inline constexpr std::size_t kMostVariants = 1000;
inline constexpr std::size_t kMostSweepBytes = std::size_t{16} << 20;

// Reads and validates all of it, the .npy files that it names included. Throws UsageError naming file, line,
// key and the allowed values.
Sweep load_sweep(const std::filesystem::path& file, const SweepOverrides& overrides = {});
// The same from text; `file` is only named in messages and anchors relative paths.
Sweep parse_sweep(const std::string& text, const std::filesystem::path& file,
                  const SweepOverrides& overrides = {});

// Why no variant could ever compute the case (more K/V heads than heads, a tensor past 2^62 bytes, ...), or
// "". load_sweep refuses such cases unless skip_when leaves them out.
std::string why_not(const Case& work);

}  // namespace hilbench
