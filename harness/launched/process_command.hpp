// Commands of rank 0 to the other processes of a launched run, and their answers: JSON over MPI.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "harness/ring/rank_command.hpp"

namespace hilbench {

struct KeepWaiting {};  // rank 0 is still working
struct BeginComparison {
  std::string case_id;
  std::uint64_t seed = 0;  // of the inputs
};
struct MakeRing {
  int ring = 0;  // its number from now on
  std::string variant_id;
};
struct AskRing {  // gives `command` to the rank of this ring
  int ring = 0;
  RankCommand command;
};
struct TellDeviceBytes {  // of this ring
  int ring = 0;
};
struct DropRing {
  int ring = 0;
};
struct ObserveDevice {};    // see Device::observe(); ranks above 0
struct TellDeviceState {};  // ranks above 0
struct EndComparison {};
struct CallRoll {};  // an exchange of other processes failed
struct EndProcess {  // after an answer
  int exit_status = 0;
};
using ProcessCommand =
    std::variant<KeepWaiting, BeginComparison, MakeRing, AskRing, TellDeviceBytes, DropRing, ObserveDevice,
                 TellDeviceState, EndComparison, CallRoll, EndProcess>;
nlohmann::json to_json(const ProcessCommand& command);
ProcessCommand process_command_from_json(const nlohmann::json& json);

// True if ranks wait for each other while they obey.
bool moves_data(const ProcessCommand& command);

struct ProcessAnswer {
  std::optional<std::string> error;  // why it failed; then nothing else is set
  std::string clock, timer, host;    // MakeRing: clock and timer as in RankResources
  double device_bytes = 0;           // TellDeviceBytes: as in RankResources
  nlohmann::json device_state;       // TellDeviceState: Device::state(), null from rank 0
  RankAnswer rank_answer;            // AskRing
};
nlohmann::json to_json(const ProcessAnswer& answer);
ProcessAnswer process_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
