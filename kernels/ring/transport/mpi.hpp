// Transport `mpi`: the ranks are processes that an MPI launcher (mpirun, srun) started; the data are in their
// memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" where this build has MPI, else why not and what to do.
std::string mpi_absence();
// Of the library, "Open MPI v4.1.4". This and what follows need mpi_absence() empty.
std::string mpi_version();

// MPI, from the start of main() to its end; one a program. All of its calls in the program are serialised.
class MpiProgram {
 public:
  MpiProgram();  // throws TransportError
  MpiProgram(const MpiProgram&) = delete;
  MpiProgram& operator=(const MpiProgram&) = delete;
  // Leaves in agreement with the other processes, unless a ring failed: then they may be gone, and the
  // messages of that ring are still under way. The program can only end, with all processes: see abandon().
  ~MpiProgram();
  int rank() const;  // of this process among all
  int size() const;
  int local_rank() const;  // of this process among those that share memory with it: of its host
  // Ends all processes at once.
  [[noreturn]] void abandon(int exit_status);

  // A ring of the processes 0 to size - 1; null in the others. Every process calls, in the same sequence.
  // Longer messages than `largest_bytes` go in parts (MPI counts in int). A rank that waits polls, and sleeps
  // between.
  std::unique_ptr<Transport> transport(int size, double timeout_s, std::size_t largest_bytes = 1 << 30);

  struct State;  // what its rings share

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace hilbench
