// The processes that an MPI launcher started for one run. Rank 0 leads: it tells the others what to do.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/launched/launch.hpp"
#include "harness/launched/orders.hpp"
#include "kernels/ring/transport/mpi.hpp"

namespace hilbench {

// What waits gives up after a time limit, with TransportError. After that, and after a fault of a ring in the
// middle of an exchange, MPI cannot go on: broken() says why, and all processes can only end.
class LaunchedProcesses {
 public:
  // Starts MPI. Throws EnvironmentError where MPI does not see what the launcher said.
  explicit LaunchedProcesses(const Launch& launch);

  int rank() const { return program_.rank(); }
  int size() const { return program_.size(); }
  int local_rank() const { return program_.local_rank(); }  // among those of this host
  bool leads() const { return rank() == 0; }

  // Everyone's text, by rank: before orders are given.
  std::vector<std::string> gather(const std::string& mine);
  // From here on the leader gives orders. A process that is silent for `timeout_s` is taken for hung.
  void open(double timeout_s);
  double timeout_s() const { return timeout_s_; }

  // The leader's: an order to ranks 1 to ranks - 1, and their answers, by rank, the first of them `own`.
  void tell(int ranks, const ProcessOrder& order);
  std::vector<ProcessAnswer> answers(int ranks, ProcessAnswer own);
  // Tells all that wait that the leader is at work, every now and then.
  void keep_waiting();
  // The others'. Rank 0's silence, too, is taken for a hang.
  ProcessOrder hear();
  void answer(const ProcessAnswer& answer);

  // A ring of ranks 0 to size - 1; null in the others. All processes call, in the same sequence.
  std::unique_ptr<Transport> ring(int size);

  const std::string& broken() const { return broken_; }
  void set_broken(const std::string& why);  // the first reason counts
  // After a fault in the middle of an exchange of ranks 0 to ranks - 1, where each waits for the next: adds
  // to broken() who does not come any more. All that hear of the fault call.
  void call_roll(int ranks) noexcept;
  // Ends all processes at once.
  [[noreturn]] void abandon(int exit_status) { program_.abandon(exit_status); }

 private:
  void send(int first, int end, Transport& transport, const nlohmann::json& value);
  nlohmann::json receive(int from, Transport& transport);
  // A fault of a transport breaks all.
  template <class Call>
  auto guarded(Call call);

  MpiProgram program_;
  double timeout_s_ = 0;
  std::unique_ptr<Transport> orders_, answers_, roll_;
  std::int64_t last_told_ns_ = 0;
  std::string broken_;
};

// Names the host, and so its steady clock.
std::string host_identity();

}  // namespace hilbench
