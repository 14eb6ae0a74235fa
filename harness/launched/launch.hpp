// What an MPI launcher says to the processes that it starts.
#pragma once

#include <functional>

namespace hilbench {

struct Launch {
  int rank = 0;
  int processes = 1;  // 1: not launched, or alone
};

// From the environment that mpirun, mpiexec and srun with an MPI plugin set. SLURM_NTASKS alone says nothing:
// batch scripts have it, and tasks of `srun --mpi=none`, which cannot join each other. `variable` is getenv.
Launch launch_of(const std::function<const char*(const char* name)>& variable);
Launch launch_of_this_process();

}  // namespace hilbench
