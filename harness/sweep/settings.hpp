// What one measurement is told, whatever sweep it comes from: how to time, with which inputs, and what the
// external programs are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hilbench {

enum class CacheState { warm, cold };
enum class InputSource { random, npy };

struct Measure {
  double interval = 0.02;        // relative half-width of every ratio's 95 % interval at which timing stops
  double budget_s = 30;          // timing of one comparison, all processes together
  std::int64_t min_rounds = 10;  // per process
  CacheState cache = CacheState::warm;
  std::uint64_t seed = 1;
  std::int64_t processes = 1;  // independent worker processes per comparison
  double timeout_s = 300;      // one phase of one variant; longer is a hang
  bool oversubscribe = false;  // a ring may have more ranks than there are GPUs: they share them
  bool operator==(const Measure&) const = default;
};

struct Inputs {
  InputSource source = InputSource::random;
  std::filesystem::path q, k, v;  // .npy, absolute or relative to the sweep file (stored absolute)
  bool operator==(const Inputs&) const = default;
};

// A baseline that is a program of its own (README, External baselines).
struct External {
  std::vector<std::string> command;  // empty: a program that this build brings
  std::filesystem::path folder;      // where it is started: that of the sweep file, absolute
  bool operator==(const External&) const = default;
};
using Externals = std::map<std::string, External>;
// Of a baseline NAME or NAME.OPTION: NAME, and the external of that name or null.
std::string external_name(const std::string& kernel);
const External* find_external(const Externals& externals, const std::string& kernel);

}  // namespace hilbench
