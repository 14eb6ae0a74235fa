// The lines of dilated_cpu that are derived are those of the rows that its own loop over a tile asks for.
#include "kernels/cpu/tile_lines.hpp"

#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "hwy/highway.h"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/cpu/tile_attention-inl.hpp"
#include "kernels/cpu/tile_operands.hpp"
#include "kernels/windows/case_index.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

std::int64_t lines_at(const void* first, std::int64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  return static_cast<std::int64_t>((begin + static_cast<std::uintptr_t>(bytes) - 1) / kLineBytes -
                                   begin / kLineBytes + 1);
}

Asked gathered;  // by the tile that runs

void count_row(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride) {
  const std::int64_t element = dtype_bytes(tile.dtype);
  const auto* row = static_cast<const std::byte*>(base) + slot * stride * element;
  gathered += {1, lines_at(row, tile.head_dim * element)};
}

// The products of fp32, which every processor has; they count the rows that the tile's loop has them copy.
struct CountedRows : HWY_NAMESPACE::Singles {
  static void gather_row(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride,
                         const TileBuffers& buffers, float* to) {
    count_row(tile, base, slot, stride);
    Singles::gather_row(tile, base, slot, stride, buffers, to);
  }
  static void gather_value(const Tile& tile, std::int64_t slot, const TileBuffers& buffers, std::size_t key) {
    count_row(tile, tile.v, slot, tile.kv_stride);
    Singles::gather_value(tile, slot, buffers, key);
  }
};

template <class T>
hwy::AlignedFreeUniquePtr<T[]> filled(std::int64_t count, T value) {
  auto memory = hwy::AllocateAligned<T>(static_cast<std::size_t>(count));
  std::fill_n(memory.get(), count, value);
  return memory;
}

// Runs the tiles of an index, and counts what they ask for.
class CountedTiles {
 public:
  CountedTiles(const Case& work, const Index& index)
      : work_(work),
        index_(index),
        collects_(work.dtype == Dtype::bf16 && work.pattern.size() > 1 &&
                  work.branch_heads == BranchHeads::all),
        o_dtype_(collects_ ? Dtype::fp32 : work.dtype),
        rows_(work.batch * work.sequence_length),
        q_(filled<float>(rows_ * work.heads * work.head_dim, 0)),
        k_(filled<float>(rows_ * work.kv_heads * work.head_dim, 0)),
        o_(filled<float>(rows_ * work.heads * work.head_dim, 0)),
        lse_(filled<float>(rows_ * work.heads, 0)) {}

  Sectors count() {
    for (const BranchIndex& branch : index_.branches)
      for (const IndexTile& tile : branch.tiles) run(branch, tile);
    const std::int64_t elements = work_.heads * work_.head_dim;
    for (std::int64_t row = 0; collects_ && row < rows_; ++row) {
      counted_[MemoryPath::loads] += {1, lines_at(o_.get() + row * elements, elements * 4)};
      const auto* rounded = reinterpret_cast<const std::uint16_t*>(q_.get()) + row * elements;
      counted_[MemoryPath::stores] += {1, lines_at(rounded, elements * 2)};
    }
    return counted_;
  }

 private:
  void run(const BranchIndex& branch, const IndexTile& tile) {
    const Operands operands{.q = q_.get(), .k = k_.get(), .v = k_.get(), .o = o_.get(), .lse = lse_.get()};
    Tile made = tile_operands(work_, operands, index_, branch, tile);
    const std::int64_t first = (tile.batch * index_.q_rows * work_.heads + tile.head) * work_.head_dim;
    auto* o = reinterpret_cast<std::byte*>(o_.get());
    made.o = o + first * dtype_bytes(o_dtype_);
    made.o_dtype = o_dtype_;
    made.combine = tile.merge ? Combine::merge : Combine::store;
    // Rows of O become 0, because V is 0 and nothing stood there: LSE is -infinity.
    const std::int64_t row_bytes = work_.head_dim * dtype_bytes(o_dtype_);
    std::memset(o, 0x40, static_cast<std::size_t>(rows_ * work_.heads * row_bytes));
    std::fill_n(lse_.get(), rows_ * work_.heads, -INFINITY);
    const auto workspace = filled<float>(tile_workspace_floats(work_.head_dim, tile.query_count), 0);
    gathered = {};
    HWY_NAMESPACE::run_tile_with<CountedRows>(made, workspace.get());
    counted_[MemoryPath::loads] += gathered;
    Asked written, written_lse;
    std::set<std::uintptr_t> lse_lines;
    for (std::int64_t row = 0; row < rows_ * work_.heads; ++row) {
      if (o[row * row_bytes] == std::byte{0x40}) continue;
      written += {1, lines_at(o + row * row_bytes, row_bytes)};
      lse_lines.insert(reinterpret_cast<std::uintptr_t>(lse_.get() + row) / kLineBytes);
    }
    written_lse = {written.requests, std::ssize(lse_lines)};
    counted_.add_output(written, tile.merge);
    counted_.add_output(written_lse, tile.merge);
  }

  const Case& work_;
  const Index& index_;
  bool collects_;
  Dtype o_dtype_;
  std::int64_t rows_;
  hwy::AlignedFreeUniquePtr<float[]> q_, k_, o_, lse_;  // large enough for either type
  Sectors counted_;
};

void expect_the_tiles(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                      const std::string& where) {
  const Index index = case_index(work, choice, tile_rows);
  const Sectors derived = tile_lines(work, index), counted = CountedTiles(work, index).count();
  for (const MemoryPath path : {MemoryPath::loads, MemoryPath::stores}) {
    EXPECT_EQ(derived[path].requests, counted[path].requests) << where << ", " << to_string(path);
    EXPECT_EQ(derived[path].sectors, counted[path].sectors) << where << ", " << to_string(path);
  }
}

TEST(TileLines, OfBranchesAreThoseThatTheTileAsksFor) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 200); ++seed) {
    Random random(seed);
    Case work = hilbench::random_case(random, 200);
    work.head_dim = std::max<std::int64_t>(work.head_dim, 16);
    KernelChoice choice{.name = "dilated_cpu"};
    choice.order = one_of<std::string>(random, {"linear", "residue", "hilbert", "random"});
    choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
    choice.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
    choice.traversal = one_of<std::string>(random, {"auto", "head_minor", "sawtooth", "sawtooth_tile"});
    expect_the_tiles(work, choice, one_of<std::int64_t>(random, {1, 7, 48, 96, 1152}),
                     fmt::format("seed {}, {}, {}", seed, case_id(work), variant_id({choice})));
  }
}

TEST(TileLines, OfWindowsAreThoseThatTheTileAsksFor) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 10 : 60); ++seed) {
    Random random(seed);
    const Case work = seed % 2 == 0 ? random_windows(random, 16) : random_mask(random, 300);
    KernelChoice choice{.name = "dilated_cpu"};
    choice.order = one_of<std::string>(random, {"linear", "snake", "hilbert", "random"});
    choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
    choice.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::united, KeyTiles::aligned});
    choice.traversal = one_of<std::string>(random, {"auto", "sawtooth_tile"});
    expect_the_tiles(work, choice, kMaskedRows,
                     fmt::format("seed {}, {}, {}", seed, case_id(work), variant_id({choice})));
  }
}

// 256 positions of one head with 64 floats: a row is four lines.
Case small_case(std::int64_t dilation) {
  return {.sequence_length = 256,
          .pattern = {{256, dilation}},
          .heads = 1,
          .kv_heads = 1,
          .head_dim = 64,
          .dtype = Dtype::fp32,
          .device = DeviceKind::cpu};
}

TEST(TileLines, ByHand) {
  const Case work = small_case(1);
  const Sectors lines = tile_lines(work, case_index(work, {.name = "dilated_cpu"}, 128));
  EXPECT_EQ(lines[MemoryPath::loads], (Asked{2 * (128 + 2 * 256), 2 * (128 + 2 * 256) * 4}));
  EXPECT_EQ(lines[MemoryPath::stores], (Asked{2 * 256, 256 * 4 + 256 / 16}));
  EXPECT_EQ(lines[MemoryPath::clears], Asked());
  // Two entries of the list of tiles, and for each tile the slots and positions of 256 keys.
  const std::int64_t entry = sizeof(IndexTile);
  const std::int64_t list = (entry - 1) / 64 + 1 + (2 * entry - 1) / 64 - entry / 64 + 1;
  EXPECT_EQ(lines[MemoryPath::tables], (Asked{2 + 2 * 2 * 256, list + 2 * 2 * 256 / 16}));
  EXPECT_EQ(lines[MemoryPath::tma], Asked());
  EXPECT_EQ(lines[MemoryPath::copies], Asked());
}

// Slots of Q are a table of their own; every second row is cleared, with its LSE.
TEST(TileLines, TablesOfQueriesAndClearedRowsByHand) {
  const Case work = small_case(2);
  const KernelChoice linear{.name = "dilated_cpu"};
  KernelChoice moved = linear;
  moved.order = "random";
  moved.order_tensors = OrderTensors::qkv;
  const Sectors lines = tile_lines(work, case_index(work, linear, 128));
  const Sectors with_slots = tile_lines(work, case_index(work, moved, 128));
  EXPECT_EQ(lines[MemoryPath::clears], (Asked{2 * 128, 128 * (4 + 1)}));
  EXPECT_EQ(with_slots[MemoryPath::loads], lines[MemoryPath::loads]);
  EXPECT_EQ(with_slots[MemoryPath::tables].requests, lines[MemoryPath::tables].requests + 128);
  EXPECT_EQ(with_slots[MemoryPath::tables].sectors, lines[MemoryPath::tables].sectors + 256 * 4 / 64);
}

}  // namespace
}  // namespace hilbench
