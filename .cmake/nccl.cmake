# Decides whether the transport nccl is built: NCCL's header is all that is needed, the library is loaded on first
# use. Sets NCCL_INCLUDE_DIR where it is.
if(HILBENCH_HAVE_CUDA)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
endif()
