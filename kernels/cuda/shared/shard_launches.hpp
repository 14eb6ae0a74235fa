// Launches around a persistent launch that copies shards itself (kernels/index/shard_copies.hpp). C++17 and
// no fmt. All enqueue only, and throw CudaError if the launch is refused.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/index/shard_copies.hpp"

namespace hilbench::cuda {

// Copiers (warps) of a launch on a GPU with this many multiprocessors.
std::uint32_t shard_copiers(int multiprocessors);

// Stores a small table, a multiple of 4 bytes, by the parameters of launches: unlike a copy out of host
// memory that is not pinned, this never waits for the stream.
void store(const void* data, std::size_t bytes, void* to, cudaStream_t stream);
// Stores a value in a word. Who reads it there, on any GPU, also sees what the stream has written before.
void tell(std::uint32_t* word, std::uint32_t value, cudaStream_t stream);
// All copiers, beside no computation.
void copy_shards(const ShardCopies& copies, cudaStream_t stream);
// Ends when all have read, or when the wait fails.
void wait_until_read(const ShardReaders& readers, cudaStream_t stream);

}  // namespace hilbench::cuda
