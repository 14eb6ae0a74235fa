# Decides whether the transport mpi is built. Sets HILBENCH_HAVE_MPI, and with it the target MPI::MPI_CXX and
# MPIEXEC_EXECUTABLE. Open MPI is loaded on first use: then HILBENCH_MPI_LIBRARY is its name, "libmpi.so.40". Another MPI
# is linked.
set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what is used
find_package(MPI QUIET COMPONENTS CXX)
set(HILBENCH_HAVE_MPI ${MPI_CXX_FOUND})
set(HILBENCH_MPI_LIBRARY "")
if(HILBENCH_HAVE_MPI)
  foreach(library IN LISTS MPI_CXX_LIBRARIES)
    get_filename_component(file ${library} REALPATH)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(file ${file} NAME)
    if(file MATCHES "^libmpi\\.so\\.[0-9]+" AND EXISTS ${folder}/libmpi.so.40)
      set(HILBENCH_MPI_LIBRARY ${CMAKE_MATCH_0})
    endif()
  endforeach()
  message(STATUS "MPI ${MPI_CXX_VERSION}: ${MPI_CXX_COMPILER} ${HILBENCH_MPI_LIBRARY}")
endif()
