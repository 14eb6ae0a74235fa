// A sweep: the validated content of a YAML file. Nothing after this reads YAML.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/sweep/condition.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "reports/view/chain.hpp"

namespace hilbench {

enum class ExternalUse { refused, allowed };

// A case of a sweep. kv_heads is resolved; device and dtype may still be `auto`.
struct SweepCase {
  Case work;
  bool skipped = false;  // skip_when matches
  double claimed = 0;    // what was reported of its chain; 0: nothing
};

struct Sweep {
  std::filesystem::path file;
  std::string text;  // the file as it was read; stored with the records
  std::string name;  // [a-z0-9_-]+
  std::string title;
  std::string question;  // that its pages answer; free text
  std::string description;
  std::vector<SweepCase> cases;   // distinct: those of `axes` (last axis fastest), then those of `cases`
  Condition skip_when;            // empty: never
  std::vector<Variant> variants;  // kernels, then baselines; their ids are distinct
  std::map<std::string, DeviceKind> only_on;  // baselines that are for one device, by id
  std::string reference;                      // id of one of `variants`
  std::vector<std::string> claims;            // that it answers: names of claim_names()
  Chain chain;                                // without what was claimed, which its cases have
  Externals externals;                        // those that `baselines` and `variants` name
  ExternalUse external_use = ExternalUse::refused;
  Measure measure;
  std::vector<std::string> counters;  // names of sets
  Inputs inputs;
};

// Changes that the command line makes to a sweep.
struct SweepOverrides {
  std::vector<std::string> axes;                    // "NAME=V,V"
  DeviceKind device = DeviceKind::automatic;        // --device
  ExternalUse external_use = ExternalUse::refused;  // --allow-external
};

inline constexpr std::int64_t kMostCases = 1'000'000;
inline constexpr std::size_t kMostVariants = 1000;
inline constexpr std::size_t kMostSweepBytes = std::size_t{16} << 20;

// Reads and validates a sweep file and the .npy files that it names. Throws UsageError that names file, line,
// key and the allowed values.
Sweep load_sweep(const std::filesystem::path& file, const SweepOverrides& overrides = {});
// The same for text. `file` is named in messages, and relative paths start at its folder; it is not read.
Sweep parse_sweep(const std::string& text, const std::filesystem::path& file,
                  const SweepOverrides& overrides = {});

// One that the program holds, with the files that it reads; `file` is its name, by which `run` finds it
// again.
struct EmbeddedSweep;
Sweep parse_embedded(const EmbeddedSweep& sweep, const SweepOverrides& overrides = {});

// Whether the sweep asks for the variant in cases on `device`: a baseline may be for the other one.
bool is_asked_on(const Sweep& sweep, const Variant& variant, DeviceKind device);

// Why no variant can compute the case (more K/V heads than heads, a tensor of more than 2^62 bytes, ...).
// load_sweep refuses such cases unless skip_when skips them.
Refusal why_not(const Case& work);

}  // namespace hilbench
