#include "kernels/cpu/permute.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hilbench {
namespace {

// Positions that a thread takes at once; longer runs are copied in pieces.
constexpr std::int64_t kStretch = 256;

// Calls copy(batch entry, first position, first slot, rows) for every run of positions with adjacent slots.
template <class Copy>
void for_each_run(std::int64_t batch, std::span<const std::int32_t> slots, int threads, const Copy& copy) {
  const auto length = static_cast<std::int64_t>(slots.size());
  const std::int64_t stretches = (length + kStretch - 1) / kStretch;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t piece = 0; piece < batch * stretches; ++piece) {
    const std::int64_t begin = piece % stretches * kStretch;
    const std::int64_t end = std::min(begin + kStretch, length);
    for (std::int64_t first = begin, next = begin; first < end; first = next) {
      const std::int64_t slot = slots[static_cast<std::size_t>(first)];
      for (next = first + 1; next < end && slots[static_cast<std::size_t>(next)] == slot + next - first;)
        ++next;
      copy(piece / stretches, first, slot, next - first);
    }
  }
}

}  // namespace

void permute_rows(const void* from, void* to, std::int64_t batch, std::span<const std::int32_t> slots,
                  std::int64_t row_bytes, int threads) {
  const auto length = static_cast<std::int64_t>(slots.size());
  for_each_run(batch, slots, threads,
               [&](std::int64_t b, std::int64_t t, std::int64_t slot, std::int64_t rows) {
                 std::memcpy(static_cast<std::byte*>(to) + (b * length + slot) * row_bytes,
                             static_cast<const std::byte*>(from) + (b * length + t) * row_bytes,
                             static_cast<std::size_t>(rows * row_bytes));
               });
}

void unpermute_rows(const void* from, void* to, std::int64_t batch, std::span<const std::int32_t> slots,
                    std::int64_t row_bytes, int threads) {
  const auto length = static_cast<std::int64_t>(slots.size());
  for_each_run(batch, slots, threads,
               [&](std::int64_t b, std::int64_t t, std::int64_t slot, std::int64_t rows) {
                 std::memcpy(static_cast<std::byte*>(to) + (b * length + t) * row_bytes,
                             static_cast<const std::byte*>(from) + (b * length + slot) * row_bytes,
                             static_cast<std::size_t>(rows * row_bytes));
               });
}

}  // namespace hilbench
