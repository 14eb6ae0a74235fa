// Orders of rank 0 to the other processes of a launched run, and their answers: JSON over MPI.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/ring/rank_order.hpp"

namespace hilbench {

enum class ProcessAction {
  wait,             // do nothing: rank 0 is still working
  comparison,       // prepare for the rings of `case_id`
  make_ring,        // prepare ring number `ring`, of `variant_id`
  ask_ring,         // give `rank_order` to the rank of ring `ring`
  device_bytes,     // report device memory of ring `ring`
  drop_ring,        // free ring `ring`
  observe,          // observe the GPU, see Device::observe(); ranks above 0
  device_state,     // report the GPU's state; ranks above 0
  comparison_done,  // free the comparison
  roll_call,        // a ring of other processes failed: call the roll
  end               // answer, then end with `exit_status`
};

struct ProcessOrder {
  ProcessAction action = ProcessAction::wait;
  std::string case_id;
  std::uint64_t seed = 0;  // comparison: of the inputs
  std::string variant_id;
  int ring = 0;
  RankOrder rank_order;
  int exit_status = 0;
};
nlohmann::json to_json(const ProcessOrder& order);
ProcessOrder process_order_from_json(const nlohmann::json& json);

// True if ranks wait for each other while they do what is ordered.
bool moves_data(const ProcessOrder& order);

struct ProcessAnswer {
  std::optional<std::string> error;  // why it failed; then nothing else is set
  std::string clock, timer, host;    // make_ring: clock and timer as in RankResources
  double device_bytes = 0;           // device_bytes: as in RankResources
  nlohmann::json device_state;       // device_state: Device::state(), null from rank 0
  RankAnswer rank_answer;            // ask_ring
};
nlohmann::json to_json(const ProcessAnswer& answer);
ProcessAnswer process_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
