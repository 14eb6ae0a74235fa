// What an MPI launcher tells the processes that it starts.
#pragma once

#include <functional>

namespace hilbench {

struct Launch {
  int rank = 0;
  int processes = 1;  // 1: not launched, or launched alone
};

// Reads the environment that mpirun, mpiexec and srun with an MPI plugin set. SLURM_NTASKS alone does not
// count: batch scripts and tasks of `srun --mpi=none` have it too, and these cannot join each other.
// `variable` works like getenv.
Launch launch_of(const std::function<const char*(const char* name)>& variable);
Launch launch_of_this_process();

}  // namespace hilbench
