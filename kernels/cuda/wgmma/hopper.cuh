// Hopper's asynchronous units as device functions: mbarriers, the tensor memory accelerator (TMA), bulk
// copies, warp group matrix products (wgmma), register redistribution. PTX ISA, sections "mbarrier",
// "cp.async.bulk", "wgmma". For sm_90a only.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"

namespace hilbench::cuda {

// mbarriers, by shared memory address.

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and makes the phase also wait for `bytes` of asynchronous copies.
__device__ __forceinline__ void barrier_arrive_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Makes the phase also wait for `bytes` of asynchronous copies.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Arrives when every cp.async that this thread has issued so far is done.
__device__ __forceinline__ void barrier_arrive_copies(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ bool barrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!barrier_try_wait(barrier, parity)) {
  }
}

__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders shared memory written by ordinary stores or cp.async before reads by wgmma and bulk copies.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Named barriers: `threads` counts those that arrive and those that wait.

__device__ __forceinline__ void named_sync(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_arrive(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <std::uint32_t kRegisters>
__device__ __forceinline__ void registers_shrink() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <std::uint32_t kRegisters>
__device__ __forceinline__ void registers_grow() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Level 2 cache policies: the results of createpolicy.fractional.L2::evict_* for fraction 1, as constants,
// which take no registers.
constexpr std::uint64_t kEvictFirst = 0x12F0000000000000;
constexpr std::uint64_t kEvictLast = 0x14F0000000000000;

// Copies.

__device__ __forceinline__ void tma_load(std::uint32_t target, const CUtensorMap* map, std::uint32_t barrier,
                                         std::uint64_t policy, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(target),
      "l"(map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// From shared memory to rows of a tensor. The thread that issues stores waits for them: commit_stores(), then
// wait_stores_read() before the shared memory is written again, wait_stores() before it is gone.
__device__ __forceinline__ void tma_store(const CUtensorMap* map, std::uint32_t source, int c0, int c1,
                                          int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
      "r"(source), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Four 8 x 8 matrices of 16-bit elements to shared memory: lane l holds elements 2(l % 4) and the next of row
// l / 4 of each; the address of lane l is that of row l % 8 of matrix l / 8.
__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&x)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x[0]),
               "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
}

// 16 bytes, not kept in the first-level cache.
__device__ __forceinline__ void copy_async(std::uint32_t target, const void* source, std::uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
               "l"(policy)
               : "memory");
}

// The same of the first `bytes` of them, 0 or 16; the others become 0 without a read.
__device__ __forceinline__ void copy_async(std::uint32_t target, const void* source, std::uint64_t policy,
                                           std::uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(target), "l"(source),
               "r"(bytes), "l"(policy)
               : "memory");
}

// Values of tables in device memory that no kernel writes. Volatile: the loads stay ahead of what hides their
// latency.
__device__ __forceinline__ std::int32_t load_number(const std::int32_t* source) {
  std::int32_t number;
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(number) : "l"(source));
  return number;
}
__device__ __forceinline__ uint2 load_words(const std::uint64_t* source) {
  uint2 words;
  asm volatile("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(words.x), "=r"(words.y) : "l"(source));
  return words;
}

// Four words, from a multiple of 16 bytes.
__device__ __forceinline__ void load_shared(std::uint32_t* words, std::uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}

// Two words, from a multiple of 8 bytes.
__device__ __forceinline__ void load_shared_pair(std::uint32_t* words, std::uint32_t address) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
}

// Matrix products of one warp group: D[64][N] += A[64][16] B[16][N], fp32 accumulators d[N / 2]. Of the 8
// columns 8g .. 8g+7, lane l of warp w holds d[4g], d[4g+1]: row 16w + l/4, columns 8g + 2(l%4) and the next;
// d[4g+2], d[4g+3]: the same 8 rows below.

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the compiler from moving register accesses across the asynchronous products that use them.
template <int kCount>
__device__ __forceinline__ void wgmma_pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Matrix descriptor of a tile in 128-byte swizzle, blocks of 64 elements (128 bytes) a row, 1024 bytes
// for every 8 rows. `leading_bytes` is the distance between blocks of 64 columns, used if the columns
// are the N dimension, which may end inside a block.
__device__ __forceinline__ std::uint64_t wgmma_descriptor(std::uint32_t address,
                                                          std::uint32_t leading_bytes) {
  return (static_cast<std::uint64_t>(1) << 62) | (static_cast<std::uint64_t>(1024 >> 4) << 32) |
         (static_cast<std::uint64_t>(leading_bytes >> 4) << 16) |
         static_cast<std::uint64_t>((address & 0x3FFFF) >> 4);
}

#define HILBENCH_D32                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HILBENCH_D40 HILBENCH_D32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define HILBENCH_D48 HILBENCH_D40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define HILBENCH_D56 HILBENCH_D48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define HILBENCH_D64 HILBENCH_D56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define HILBENCH_D96                                                                 \
  HILBENCH_D64                                                                       \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define HILBENCH_D128                                                                        \
  HILBENCH_D96                                                                               \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HILBENCH_F8(i)                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define HILBENCH_F32 HILBENCH_F8(0), HILBENCH_F8(8), HILBENCH_F8(16), HILBENCH_F8(24)
#define HILBENCH_F40 HILBENCH_F32, HILBENCH_F8(32)
#define HILBENCH_F48 HILBENCH_F40, HILBENCH_F8(40)
#define HILBENCH_F56 HILBENCH_F48, HILBENCH_F8(48)
#define HILBENCH_F64 HILBENCH_F56, HILBENCH_F8(56)
#define HILBENCH_F96 HILBENCH_F64, HILBENCH_F8(64), HILBENCH_F8(72), HILBENCH_F8(80), HILBENCH_F8(88)
#define HILBENCH_F128 HILBENCH_F96, HILBENCH_F8(96), HILBENCH_F8(104), HILBENCH_F8(112), HILBENCH_F8(120)

// wgmma_shared(): A and B in shared memory, both contiguous along the summed dimension; `accumulate` 0: D = A
// B. wgmma_registers(): A in registers, B in shared memory, contiguous along N; D += A B.
#define HILBENCH_WGMMA_SHARED(T, type, n, count, a, b, s)                                               \
  __device__ __forceinline__ void wgmma_shared(T, float(&d)[count], std::uint64_t desc_a,               \
                                               std::uint64_t desc_b, int accumulate) {                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " s                                                  \
                 ", 0;\n"                                                                               \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" HILBENCH_D##count \
                 "}, " a ", " b ", p, 1, 1, 0, 0;\n}\n"                                                 \
                 : HILBENCH_F##count                                                                    \
                 : "l"(desc_a), "l"(desc_b), "r"(accumulate));                                          \
  }
#define HILBENCH_WGMMA_REGISTERS(T, type, n, count, a0, a1, a2, a3, b)                                  \
  __device__ __forceinline__ void wgmma_registers(T, float(&d)[count], const std::uint32_t* a,          \
                                                  std::uint64_t desc_b) {                               \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" HILBENCH_D##count \
                 "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", 1, 1, 1, 1;\n"                            \
                 : HILBENCH_F##count                                                                    \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(desc_b));                            \
  }
#define HILBENCH_WGMMA(T, type)                                                  \
  HILBENCH_WGMMA_SHARED(T, type, 64, 32, "%32", "%33", "%34")                    \
  HILBENCH_WGMMA_SHARED(T, type, 80, 40, "%40", "%41", "%42")                    \
  HILBENCH_WGMMA_SHARED(T, type, 112, 56, "%56", "%57", "%58")                   \
  HILBENCH_WGMMA_SHARED(T, type, 128, 64, "%64", "%65", "%66")                   \
  HILBENCH_WGMMA_REGISTERS(T, type, 64, 32, "%32", "%33", "%34", "%35", "%36")   \
  HILBENCH_WGMMA_REGISTERS(T, type, 80, 40, "%40", "%41", "%42", "%43", "%44")   \
  HILBENCH_WGMMA_REGISTERS(T, type, 96, 48, "%48", "%49", "%50", "%51", "%52")   \
  HILBENCH_WGMMA_REGISTERS(T, type, 128, 64, "%64", "%65", "%66", "%67", "%68")  \
  HILBENCH_WGMMA_REGISTERS(T, type, 192, 96, "%96", "%97", "%98", "%99", "%100") \
  HILBENCH_WGMMA_REGISTERS(T, type, 256, 128, "%128", "%129", "%130", "%131", "%132")

HILBENCH_WGMMA(__nv_bfloat16, "bf16")
HILBENCH_WGMMA(__half, "f16")

}  // namespace hilbench::cuda
