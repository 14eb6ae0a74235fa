// Settings of one measurement, whatever sweep it comes from: how to time, which inputs to use, and which
// external programs there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/case/variant.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

enum class InputSource { random, npy };

inline constexpr std::int64_t kMaxProcesses = 1000;

struct Measure {
  double interval = 0.02;        // half-width wanted of every ratio's 95 % interval within one process
  double budget_s = 30;          // time for one comparison, all processes together
  bool rounds_bend = false;      // it holds even if few rounds are left; no key of sweeps: --budget
  std::int64_t min_rounds = 10;  // per process
  CacheState cache = CacheState::warm;
  bool steady = false;  // a sample is executions back to back for steady_s or more, with the energy used
  double steady_s = 2;
  std::uint64_t seed = 1;
  std::int64_t processes = 1;            // fresh worker processes per comparison, each with inputs of its own
  double margin = 0.01;                  // the smallest effect worth a name, as a share
  double timeout_s = 300;                // limit for one phase of one variant: after that it counts as hung
  bool oversubscribe = false;            // a ring may have more ranks than GPUs; ranks then share GPUs
  double shortest_sample_ns = 2e6;       // shorter executions are repeated to fill it; no key of sweeps
  std::vector<Protocol> protocols = {};  // how scripts time the ends of a chain; the first as it was claimed
  bool operator==(const Measure&) const = default;
};

struct Inputs {
  InputSource source = InputSource::random;
  std::filesystem::path q, k, v;  // .npy, as absolute paths; a sweep file may give them relative to itself
  std::filesystem::path d_o;      // the same; empty: random
  bool operator==(const Inputs&) const = default;
};

// A program of its own (docs/external.md): a baseline, or a kernel of the user (docs/kernels.md).
struct External {
  std::vector<std::string> command;  // empty: a program of this build
  std::filesystem::path folder;      // the program's working folder: that of the sweep file, absolute
  ImplementationKind kind = ImplementationKind::baseline;
  // Of a kernel, absolute: this program hosts it in a process of its own, and `command` is empty. Empty:
  // none.
  std::filesystem::path library = {};
  bool operator==(const External&) const = default;
};
using Externals = std::map<std::string, External>;
// For a kernel, or a baseline NAME or NAME.OPTION: NAME, and the external program of that name (null if there
// is none).
std::string external_name(const std::string& kernel);
const External* find_external(const Externals& externals, const std::string& kernel);

}  // namespace hilbench
