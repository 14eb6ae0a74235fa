#include <cstdlib>

#include "kernels/ring/transport/mpi.hpp"

namespace hilbench {

struct MpiProgram::State {};

std::string mpi_absence() {
  return "built without MPI: install libopenmpi-dev and openmpi-bin and configure again";
}

std::string mpi_version() {
  throw TransportError(mpi_absence());
}

MpiProgram::MpiProgram() {
  throw TransportError(mpi_absence());
}

MpiProgram::~MpiProgram() = default;

int MpiProgram::rank() const {
  return 0;
}

int MpiProgram::size() const {
  return 1;
}

int MpiProgram::local_rank() const {
  return 0;
}

int MpiProgram::first_on_host() const {
  return 0;
}

void MpiProgram::abandon(int exit_status) {
  std::exit(exit_status);
}

std::unique_ptr<Transport> MpiProgram::transport(int, double, std::size_t) {
  throw TransportError(mpi_absence());
}

}  // namespace hilbench
