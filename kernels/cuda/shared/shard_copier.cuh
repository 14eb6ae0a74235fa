// What the protocol of kernels/index/shard_copies.hpp runs on in a launch: threads that wait, and warps that
// copy. A copier is a warp, so that while some wait for a word or for their last loads, others copy.
#pragma once

#include <cstdint>

#include "kernels/index/shard_copies.hpp"

namespace hilbench::cuda {

// Words that ranks wait for have system scope, because the other side may be another GPU.
__device__ __forceinline__ std::uint32_t load_acquired(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

// Does not acquire: what was written before the word may still be unseen.
__device__ __forceinline__ std::uint32_t peek(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ void store_released(std::uint32_t* word, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ __forceinline__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// One thread.
struct WaitingThread {
  static constexpr int kTurns = 4096;  // some milliseconds
  __device__ __forceinline__ std::uint32_t load(const std::uint32_t* word) const {
    return load_acquired(word);
  }
  __device__ __forceinline__ std::uint32_t peek(const std::uint32_t* word) const {
    return hilbench::cuda::peek(word);
  }
  __device__ __forceinline__ void store(std::uint32_t* word, std::uint32_t value) const {
    *static_cast<volatile std::uint32_t*>(word) = value;
  }
  __device__ __forceinline__ std::uint64_t now_ns() const { return nanoseconds(); }
  __device__ __forceinline__ void pause(int turn) const { __nanosleep(turn < 8 ? 40 : 400); }
};

// A warp, all lanes together. Lane 0 handles words; __syncwarp() orders what the others have read and written
// before its releases, and after its acquires.
class CopyingWarp {
 public:
  static constexpr std::uint32_t kInFlight = 8;  // words that a lane loads before its first store
  static constexpr std::uint32_t kPieceWords = 32 * kInFlight;

  __device__ __forceinline__ bool wait_for(const std::uint32_t* word, std::uint32_t needed,
                                           const ShardWaits& waits, int missed, std::uint32_t whom) const {
    bool reached = true;
    if (lane() == 0) {
      WaitingThread thread;
      reached = hilbench::wait_for(word, needed, waits, missed, whom, thread);
    }
    reached = __shfl_sync(0xFFFFFFFFu, reached, 0);
    __syncwarp();
    return reached;
  }

  // Loads pass by the first-level cache: it might hold what another rank had there in an earlier execution.
  __device__ __forceinline__ void copy(const ChunkWords& words, std::uint32_t begin,
                                       std::uint32_t end) const {
    uint4 held[kInFlight];
#pragma unroll
    for (std::uint32_t i = 0; i < kInFlight; ++i) {
      const std::uint32_t word = begin + i * 32 + lane();
      if (word < end) held[i] = load_words(words.from + words.at(word));
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kInFlight; ++i) {
      const std::uint32_t word = begin + i * 32 + lane();
      if (word < end) *reinterpret_cast<uint4*>(words.to + words.at(word)) = held[i];
    }
  }

  // For lane 0 only; false in the others. Copiers of one word are on one GPU.
  __device__ __forceinline__ bool is_last(std::uint32_t* word, std::uint32_t needed) const {
    __syncwarp();
    if (lane() != 0) return false;
    std::uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(word) : "memory");
    return before + 1 == needed;
  }

  __device__ __forceinline__ void add(std::uint32_t* word) const {
    asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
  }

  __device__ __forceinline__ void tell(std::uint32_t* word, std::uint32_t value) const {
    store_released(word, value);
  }

 private:
  __device__ __forceinline__ static std::uint32_t lane() {
    return threadIdx.x % 32;
  }

  __device__ __forceinline__ static uint4 load_words(const std::byte* from) {
    uint4 words;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(from)
                 : "memory");
    return words;
  }
};

}  // namespace hilbench::cuda
