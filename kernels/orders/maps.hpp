// Orders that are no curves: each fills slots[t] for every position t. `slots` has request.length entries.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/orders/order.hpp"

namespace hilbench {

using SlotMap = void (*)(const OrderRequest& request, std::span<std::int64_t> slots);

// slots[t] = t.
void linear_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Sorted by (t mod r, t): the streams of dilation r, each contiguous. r = request.residue.
void residue_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Sorted by (bit-reversal of t mod r, floor(t / r)): the streams of every dilation 2^i <= r are contiguous.
// Throws UsageError where r = request.residue is no power of two.
void bitrev_residue_map(const OrderRequest& request, std::span<std::int64_t> slots);

// A uniform permutation (Fisher-Yates), the same on every platform for a seed.
void random_map(const OrderRequest& request, std::span<std::int64_t> slots);

// request.file: .npy with the slot of each position. Throws UsageError for an unreadable file, a wrong
// length, or a map that is no bijection.
void file_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Published as a Hilbert curve, and wrong. Position d goes to cell y * n + x of the point that the published
// `hilbert_d2xy(n, d)` gives, n = the raster's width rounded up to a power of two; -1 where the point lies
// outside the n x n grid. Of n = 64, 1465 of 4096 points lie inside.
void seed_d2xy_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Published as a Hilbert order of 16 positions, and wrong: a permutation with diagonal steps. Read as a table
// of ranks, and applied to every kSeedListChunk positions; in a shorter last chunk ranks are compressed.
inline constexpr std::int64_t kSeedListChunk = 16;
void seed_list_map(const OrderRequest& request, std::span<std::int64_t> slots);

}  // namespace hilbench
