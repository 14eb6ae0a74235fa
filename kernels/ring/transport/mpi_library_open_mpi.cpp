#include <fmt/format.h>

#include <type_traits>

#include "kernels/base/process/library.hpp"
#include "kernels/ring/transport/mpi_library.hpp"

namespace hilbench {
namespace {

class Symbols {
 public:
  Symbols(const LoadedLibrary& library, std::string& absence) : library_(library), absence_(absence) {}
  template <class Function>
  void function(const char* name, Function*& function) {
    function = library_.find<Function>(name);
    expect(function != nullptr, name);
  }
  // A handle is the address of an object inside the library.
  template <class Handle>
  void handle(const char* name, Handle& handle) {
    handle = library_.find<std::remove_pointer_t<Handle>>(name);
    expect(handle != nullptr, name);
  }

 private:
  void expect(bool found, const char* name) {
    if (!found && absence_.empty())
      absence_ = fmt::format("{} lacks {}; install the Open MPI that hilbench was built with",
                             library_.name(), name);
  }
  const LoadedLibrary& library_;
  std::string& absence_;
};

Mpi load() {
  Mpi loaded;
  // Its plug-ins look for its symbols.
  const LoadedLibrary library({HILBENCH_MPI_LIBRARY}, SymbolScope::everyone);
  if (!library) {
    loaded.absence =
        fmt::format("{}; install Open MPI (libopenmpi3, openmpi-bin), or set LD_LIBRARY_PATH", library.why());
    return loaded;
  }
  Symbols symbols(library, loaded.absence);
  symbols.function("MPI_Abort", loaded.abort);
  symbols.function("MPI_Bcast", loaded.bcast);
  symbols.function("MPI_Comm_dup", loaded.comm_dup);
  symbols.function("MPI_Comm_free", loaded.comm_free);
  symbols.function("MPI_Comm_rank", loaded.comm_rank);
  symbols.function("MPI_Comm_set_errhandler", loaded.comm_set_errhandler);
  symbols.function("MPI_Comm_size", loaded.comm_size);
  symbols.function("MPI_Comm_split_type", loaded.comm_split_type);
  symbols.function("MPI_Error_string", loaded.error_string);
  symbols.function("MPI_Finalize", loaded.finalize);
  symbols.function("MPI_Get_count", loaded.get_count);
  symbols.function("MPI_Get_library_version", loaded.get_library_version);
  symbols.function("MPI_Init_thread", loaded.init_thread);
  symbols.function("MPI_Iprobe", loaded.iprobe);
  symbols.function("MPI_Irecv", loaded.irecv);
  symbols.function("MPI_Isend", loaded.isend);
  symbols.function("MPI_Recv", loaded.recv);
  symbols.function("MPI_Request_free", loaded.request_free);
  symbols.function("MPI_Test", loaded.test);
  symbols.handle("ompi_mpi_comm_world", loaded.comm_world);
  symbols.handle("ompi_mpi_comm_null", loaded.comm_null);
  symbols.handle("ompi_mpi_byte", loaded.byte);
  symbols.handle("ompi_mpi_int", loaded.integer);
  symbols.handle("ompi_mpi_errors_return", loaded.errors_return);
  symbols.handle("ompi_mpi_info_null", loaded.info_null);
  symbols.handle("ompi_request_null", loaded.request_null);
  return loaded;
}

}  // namespace

const Mpi& mpi() {
  static const Mpi loaded = load();
  return loaded;
}

}  // namespace hilbench
