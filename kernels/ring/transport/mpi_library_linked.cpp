#include "kernels/ring/transport/mpi_library.hpp"

namespace hilbench {

const Mpi& mpi() {
  static const Mpi linked{.abort = MPI_Abort,
                          .bcast = MPI_Bcast,
                          .comm_dup = MPI_Comm_dup,
                          .comm_free = MPI_Comm_free,
                          .comm_rank = MPI_Comm_rank,
                          .comm_set_errhandler = MPI_Comm_set_errhandler,
                          .comm_size = MPI_Comm_size,
                          .comm_split_type = MPI_Comm_split_type,
                          .error_string = MPI_Error_string,
                          .finalize = MPI_Finalize,
                          .get_count = MPI_Get_count,
                          .get_library_version = MPI_Get_library_version,
                          .init_thread = MPI_Init_thread,
                          .iprobe = MPI_Iprobe,
                          .irecv = MPI_Irecv,
                          .isend = MPI_Isend,
                          .recv = MPI_Recv,
                          .request_free = MPI_Request_free,
                          .test = MPI_Test,
                          .comm_world = MPI_COMM_WORLD,
                          .comm_null = MPI_COMM_NULL,
                          .byte = MPI_BYTE,
                          .integer = MPI_INT,
                          .errors_return = MPI_ERRORS_RETURN,
                          .info_null = MPI_INFO_NULL,
                          .request_null = MPI_REQUEST_NULL};
  return linked;
}

}  // namespace hilbench
