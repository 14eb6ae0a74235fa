// Orders that are not curves. Each writes slots[t] for every position t. `slots` has request.length entries.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/orders/order.hpp"

namespace hilbench {

using SlotMap = void (*)(const OrderRequest& request, std::span<std::int64_t> slots);

// slots[t] = t.
void linear_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Positions sorted by (t mod r, t), so that each stream of dilation r is contiguous. r = request.residue.
void residue_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Positions sorted by (bit-reversal of t mod r, floor(t / r)), so that the streams of every dilation 2^i <= r
// are contiguous. r = request.residue. Throws UsageError if r is not a power of two.
void bitrev_residue_map(const OrderRequest& request, std::span<std::int64_t> slots);

// A uniform random permutation (Fisher-Yates). A seed gives the same permutation on every platform.
void random_map(const OrderRequest& request, std::span<std::int64_t> slots);

// request.file is a .npy with the slot of each position. Throws UsageError if it cannot be read, has another
// length, or is not a bijection.
void file_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Published as a Hilbert curve, but wrong. Position d goes to cell y * n + x of the point that the published
// `hilbert_d2xy(n, d)` returns, with n the raster's width rounded up to a power of two; to -1 if the point is
// outside the n x n grid. For n = 64 only 1465 of 4096 points are inside.
void seed_d2xy_map(const OrderRequest& request, std::span<std::int64_t> slots);

// The map by which the analysis counted half the cache lines: a Hilbert curve over the next square with a
// side that is a power of two, of which only the first request.length steps are taken. A position that they
// do not reach has slot 0. A bijection if the length is a power of 4; of 2048 and 8192 positions half have
// slot 0.
void seed_zeros_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Published as a Hilbert order of 16 positions, but wrong: a permutation with diagonal steps. It is used as a
// table of ranks for every kSeedListChunk positions; in a shorter last chunk the ranks are compressed.
inline constexpr std::int64_t kSeedListChunk = 16;
void seed_list_map(const OrderRequest& request, std::span<std::int64_t> slots);

}  // namespace hilbench
