// The processes that an MPI launcher started for one run. Rank 0 leads: it gives commands to the others.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/launched/launch.hpp"
#include "harness/launched/process_command.hpp"
#include "kernels/ring/transport/mpi.hpp"

namespace hilbench {

// Every wait ends after a timeout, with TransportError. After a timeout, or after a failure in the middle of
// an exchange, MPI cannot continue. Then broken() says why, and all processes can only end.
class LaunchedProcesses {
 public:
  // Starts MPI. Throws EnvironmentError if MPI and `launch` disagree.
  explicit LaunchedProcesses(const Launch& launch);

  int rank() const { return program_.rank(); }
  int size() const { return program_.size(); }
  int local_rank() const { return program_.local_rank(); }        // among the processes of this host
  int first_on_host() const { return program_.first_on_host(); }  // rank of the first process of this host
  bool leads() const { return rank() == 0; }

  // Returns the texts of all processes, by rank. Called before open().
  std::vector<std::string> gather(const std::string& mine);
  // After this the leader gives commands. A process that is silent for `timeout_s` counts as hung.
  void open(double timeout_s);
  double timeout_s() const { return timeout_s_; }

  // For the leader. tell() gives a command to ranks 1 to `ranks` - 1. answers() returns their answers by
  // rank, after `own`.
  void tell(int ranks, const ProcessCommand& command);
  std::vector<ProcessAnswer> answers(int ranks, ProcessAnswer own);
  // Tells the waiting processes that the leader is working, if it has been silent for a while.
  void keep_waiting();
  // For the others. If rank 0 is silent for too long, it counts as hung too.
  ProcessCommand hear();
  void answer(const ProcessAnswer& answer);

  // A transport of ranks 0 to `size` - 1; null on the other ranks. All processes must call this, in the same
  // sequence.
  std::unique_ptr<Transport> ring(int size);

  const std::string& broken() const { return broken_; }
  void set_broken(const std::string& why);  // the first reason is kept
  // Called after a failure in an exchange, by all processes that see it or hear of it. Adds to broken() which
  // ranks no longer answer: in a ring each rank waits for the next, so the first failure may name the wrong
  // one.
  void call_roll() noexcept;
  // Ends all processes at once.
  [[noreturn]] void abandon(int exit_status) { program_.abandon(exit_status); }

 private:
  void send(int first, int end, Transport& transport, const nlohmann::json& value);
  nlohmann::json receive(int from, Transport& transport);
  // Runs `call`. If a transport fails, the processes are broken.
  template <class Call>
  auto guarded(Call call);

  MpiProgram program_;
  double timeout_s_ = 0;
  std::unique_ptr<Transport> commands_, answers_, roll_;
  std::int64_t last_told_ns_ = 0;
  std::string broken_;
};

// Identifies the host, and so its steady clock.
std::string host_identity();

}  // namespace hilbench
