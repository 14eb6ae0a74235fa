// What rank 0 orders the other processes of a run to do, and what they answer: JSON over MPI.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/ring/rank_order.hpp"

namespace hilbench {

enum class ProcessAction {
  wait,             // nothing: rank 0 is at work
  comparison,       // gets ready for the rings of `case_id`
  make_ring,        // of `variant_id`; its number is `ring`
  ask_ring,         // `rank_order`, of a ring's rank
  device_bytes,     // of a ring
  drop_ring,        //
  observe,          // the GPUs of ranks above 0
  device_state,     //
  comparison_done,  //
  roll_call,        // a ring of other processes failed
  end               // of the run
};

struct ProcessOrder {
  ProcessAction action = ProcessAction::wait;
  std::string case_id;
  std::string variant_id;
  int ring = 0;
  RankOrder rank_order;
  int exit_status = 0;  // end
};
nlohmann::json to_json(const ProcessOrder& order);
ProcessOrder process_order_from_json(const nlohmann::json& json);

// Whether ranks wait for each other in what is ordered.
bool moves_data(const ProcessOrder& order);

struct ProcessAnswer {
  std::optional<std::string> error;  // why it could not: then the rest is not set
  std::string clock, timer, host;    // make_ring: RankResources's clock and timer
  double device_bytes = 0;           // RankResources's
  nlohmann::json device_state;       // Device::state(), null of rank 0
  RankAnswer rank_answer;            // ask_ring
};
nlohmann::json to_json(const ProcessAnswer& answer);
ProcessAnswer process_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
