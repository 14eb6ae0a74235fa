# Decides whether the transport mpi is built. Sets HILBENCH_HAVE_MPI, and with it the target MPI::MPI_CXX and
# MPIEXEC_EXECUTABLE.
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what is used
find_package(MPI QUIET COMPONENTS CXX)
set(HILBENCH_HAVE_MPI ${MPI_CXX_FOUND})
if(HILBENCH_HAVE_MPI)
  message(STATUS "MPI ${MPI_CXX_VERSION}: ${MPI_CXX_COMPILER}")
endif()
