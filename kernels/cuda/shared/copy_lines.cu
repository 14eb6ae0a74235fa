// A block takes about kChunkBytes of one element of the list, then of the next: so what goes to several GPUs
// goes to all of them at the same time. Each thread starts kInFlight loads before its first store, which may
// be to another GPU.
#include <algorithm>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/copy_lines.hpp"

namespace hilbench::cuda {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kInFlight = 4;
constexpr unsigned kChunkBytes = 16384;
constexpr unsigned kBlocks = 264;  // two for each multiprocessor of an H200, more than an NVLink needs

struct Table {
  Lines lines[kLinesOfLaunch];
  unsigned count;
  unsigned chunks;  // of the element with most
};

__host__ __device__ unsigned lines_of_chunk(const Lines& lines) {
  return lines.bytes < kChunkBytes ? kChunkBytes / lines.bytes : 1;
}

template <class Word>
__device__ void copy(const Lines& lines, unsigned first, unsigned count) {
  const unsigned line_words = lines.bytes / sizeof(Word), words = count * line_words;
  const char* const from = static_cast<const char*>(lines.from) + first * lines.from_step;
  char* const to = static_cast<char*>(lines.to) + first * lines.to_step;
  for (unsigned begin = threadIdx.x; begin < words; begin += kThreads * kInFlight) {
    Word held[kInFlight];
#pragma unroll
    for (unsigned i = 0; i < kInFlight; ++i) {
      const unsigned word = begin + i * kThreads, line = word / line_words;
      if (word < words)
        held[i] = reinterpret_cast<const Word*>(from + line * lines.from_step)[word - line * line_words];
    }
#pragma unroll
    for (unsigned i = 0; i < kInFlight; ++i) {
      const unsigned word = begin + i * kThreads, line = word / line_words;
      if (word < words)
        reinterpret_cast<Word*>(to + line * lines.to_step)[word - line * line_words] = held[i];
    }
  }
}

__device__ bool in_words_of(std::size_t bytes, const Lines& lines) {
  const auto from = reinterpret_cast<std::size_t>(lines.from), to = reinterpret_cast<std::size_t>(lines.to);
  return ((from | to | lines.from_step | lines.to_step | lines.bytes) & (bytes - 1)) == 0;
}

__global__ void __launch_bounds__(kThreads) copy_table(const __grid_constant__ Table table) {
  for (unsigned item = blockIdx.x; item < table.chunks * table.count; item += gridDim.x) {
    const Lines& lines = table.lines[item % table.count];
    const unsigned at_once = lines_of_chunk(lines), first = item / table.count * at_once;
    if (first >= lines.count) continue;
    const unsigned left = lines.count - first, count = left < at_once ? left : at_once;
    if (in_words_of(sizeof(uint4), lines))
      copy<uint4>(lines, first, count);
    else if (in_words_of(sizeof(std::uint32_t), lines))
      copy<std::uint32_t>(lines, first, count);
    else
      copy<std::uint8_t>(lines, first, count);
  }
}

}  // namespace

void copy_lines(const std::vector<Lines>& lines, cudaStream_t stream) {
  Table table{};
  const auto launch = [&] {
    if (table.count == 0) return;
    copy_table<<<std::min(kBlocks, table.chunks * table.count), kThreads, 0, stream>>>(table);
    HILBENCH_CUDA(cudaGetLastError());
    table.count = table.chunks = 0;
  };
  for (const Lines& each : lines) {
    if (each.bytes == 0 || each.count == 0) continue;
    table.lines[table.count++] = each;
    const unsigned at_once = lines_of_chunk(each);
    table.chunks = std::max(table.chunks, (each.count + at_once - 1) / at_once);
    if (table.count == kLinesOfLaunch) launch();
  }
  launch();
}

}  // namespace hilbench::cuda
