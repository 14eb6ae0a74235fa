// The commands that all ranks of a ring get at the same time, and their answers. A rank may be another
// process, so both can be written as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

enum class OutputTensor { o, lse };

struct DescribeRank {};
struct RunRing {
  RingPart part = RingPart::all;
  std::int64_t executions = 1;
  bool cold = false;  // evict the caches before each execution
};
struct TimeLink {
  bool between = false;  // send to the next group, or to the next rank in it
  std::int64_t executions = 1;
};
struct OpenCounters {
  std::string set;
};
struct CountPass {
  int pass = 0;       // number of this pass; a pass is one execution
  bool cold = false;  // as in RunRing
};
struct CloseCounters {};
struct FillOutput {
  std::byte value{};  // of every byte
};
struct CountBad {};
struct LoadInputs {
  InputSet inputs = InputSet::first;  // on which further runs compute
};
struct ProbeKeys {
  std::uint64_t entropy = 0;  // draws the rows
};
struct ReadOutput {
  OutputTensor tensor = OutputTensor::o;
  std::int64_t first = 0, count = 0;  // of the elements of the whole tensor
};
using RankCommand = std::variant<DescribeRank, RunRing, TimeLink, OpenCounters, CountPass, CloseCounters,
                                 FillOutput, CountBad, LoadInputs, ProbeKeys, ReadOutput>;
nlohmann::json to_json(const RankCommand& command);
RankCommand rank_command_from_json(const nlohmann::json& json);

// What every rank sends at once to time a link.
inline constexpr std::size_t kTimedLinkBytes = std::size_t{32} << 20;

// True if ranks wait for each other while they obey.
bool moves_data(const RankCommand& command);

struct RankAnswer {
  double bytes = 0;                  // DescribeRank: memory of the rank
  std::optional<double> permute_ns;  // DescribeRank: none if nothing was permuted
  std::vector<std::pair<std::int64_t, std::int64_t>>
      spans;                       // RunRing, TimeLink: RankResources::span() of each
  std::uint64_t sent_bytes = 0;    // RunRing, in the last execution; CountPass
  std::uint64_t sent_between = 0;  // RunRing: those of them that left the rank's group
  bool counts = false;             // OpenCounters: true if this rank counts
  int passes = 0;                  // OpenCounters: executions that its set needs
  bool failed = false;             // CountPass: true if it can count no longer
  RawCounts counted;               // CloseCounters: empty if it does not count
  BadValues bad;                   // CountBad: of its own rows
  ProbeErrors probed;              // ProbeKeys: errors of its own rows
  std::vector<float> values;       // ReadOutput: those that it owns
};
nlohmann::json to_json(const RankAnswer& answer);
RankAnswer rank_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
