// MPI, loaded on first use if it is Open MPI, whose symbols have one name in every build; else linked.
#pragma once

#include <mpi.h>

#include <string>

namespace hilbench {

struct Mpi {
  std::string absence;  // "" if it was loaded, else the reason and what to do
  decltype(&MPI_Abort) abort = nullptr;
  decltype(&MPI_Bcast) bcast = nullptr;
  decltype(&MPI_Comm_dup) comm_dup = nullptr;
  decltype(&MPI_Comm_free) comm_free = nullptr;
  decltype(&MPI_Comm_rank) comm_rank = nullptr;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
  decltype(&MPI_Comm_size) comm_size = nullptr;
  decltype(&MPI_Comm_split_type) comm_split_type = nullptr;
  decltype(&MPI_Error_string) error_string = nullptr;
  decltype(&MPI_Finalize) finalize = nullptr;
  decltype(&MPI_Get_count) get_count = nullptr;
  decltype(&MPI_Get_library_version) get_library_version = nullptr;
  decltype(&MPI_Init_thread) init_thread = nullptr;
  decltype(&MPI_Iprobe) iprobe = nullptr;
  decltype(&MPI_Irecv) irecv = nullptr;
  decltype(&MPI_Isend) isend = nullptr;
  decltype(&MPI_Recv) recv = nullptr;
  decltype(&MPI_Request_free) request_free = nullptr;
  decltype(&MPI_Test) test = nullptr;
  // What MPI's constants of these names are. In Open MPI they are addresses inside the library.
  MPI_Comm comm_world{}, comm_null{};
  MPI_Datatype byte{}, integer{};
  MPI_Errhandler errors_return{};
  MPI_Info info_null{};
  MPI_Request request_null{};
};

const Mpi& mpi();

}  // namespace hilbench
