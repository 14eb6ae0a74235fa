// Puts the rows of a tensor [batch, sequence, heads, head_dim] into an order and back, bit for bit.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// to[b, slots[t], :] = from[b, t, :] for rows of `row_bytes` (heads * head_dim * element size).
// `from` and `to` do not overlap; both hold batch * slots.size() rows.
void permute_rows(const void* from, void* to, std::int64_t batch, std::span<const std::int32_t> slots,
                  std::int64_t row_bytes, int threads);
// The inverse: to[b, t, :] = from[b, slots[t], :].
void unpermute_rows(const void* from, void* to, std::int64_t batch, std::span<const std::int32_t> slots,
                    std::int64_t row_bytes, int threads);

}  // namespace hilbench
