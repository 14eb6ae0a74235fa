// Transport `mpi`: ranks are processes that an MPI launcher (mpirun, srun) started, and the data
// are in their memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" if this build has MPI, else why not and what to do.
std::string mpi_absence();
// The library and its version, "Open MPI v4.1.4". Call this and what follows only if mpi_absence() is empty.
std::string mpi_version();

// MPI from the start of main() to its end; one per program. All MPI calls of the program are serialised.
class MpiProgram {
 public:
  MpiProgram();  // throws TransportError
  MpiProgram(const MpiProgram&) = delete;
  MpiProgram& operator=(const MpiProgram&) = delete;
  // Leaves together with the other processes, unless a ring failed: then some may be gone, and messages of
  // that ring are still under way. After a failure the program can only end all processes with abandon().
  ~MpiProgram();
  int rank() const;  // of this process among all
  int size() const;
  int local_rank() const;     // of this process among those that share memory with it: of its host
  int first_on_host() const;  // rank of the first of those among all
  // Ends all processes at once.
  [[noreturn]] void abandon(int exit_status);

  // A ring of processes 0 to size - 1; null in the others. Every process makes these calls in the same
  // sequence. Messages longer than `largest_bytes` are sent in parts (MPI counts in int). A rank that waits
  // polls, and sleeps between polls.
  std::unique_ptr<Transport> transport(int size, double timeout_s, std::size_t largest_bytes = 1 << 30);

  struct State;  // what its rings share

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace hilbench
