#include "kernels/windows/window_tiles.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_set>

#include "kernels/base/text/hash.hpp"
#include "kernels/index/index.hpp"

namespace hilbench {
namespace {

std::vector<Coordinates> coordinates_of_positions(const Case& work) {
  const std::vector<std::int64_t> grid =
      has_mask_blocks(work) ? std::vector<std::int64_t>{1, work.sequence_length} : grid_of(work);
  const std::int64_t planes = grid.size() > 2 ? grid[0] : 1;
  const std::int64_t rows = grid[grid.size() - 2], columns = grid[grid.size() - 1];
  std::vector<Coordinates> coordinates;
  coordinates.reserve(static_cast<std::size_t>(work.sequence_length));
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        coordinates.push_back({static_cast<std::int32_t>(plane), static_cast<std::int32_t>(row),
                               static_cast<std::int32_t>(column)});
  return coordinates;
}

// Sorts distinct slots: many of them by marking each in `taken`, which has a bit for each slot and is 0
// before and after.
void sort_slots(std::vector<std::int32_t>& slots, std::vector<std::uint64_t>& taken) {
  if (slots.empty()) return;
  std::int32_t least = slots.front(), most = least;
  for (const std::int32_t slot : slots) {
    least = std::min(least, slot);
    most = std::max(most, slot);
  }
  if ((most - least) / 64 > 2 * std::ssize(slots)) {
    std::sort(slots.begin(), slots.end());
    return;
  }
  const auto first = static_cast<std::size_t>(least / 64), last = static_cast<std::size_t>(most / 64);
  for (const std::int32_t slot : slots)
    taken[static_cast<std::size_t>(slot / 64)] |= std::uint64_t{1} << slot % 64;
  slots.clear();
  for (std::size_t w = first; w <= last; ++w) {
    for (std::uint64_t word = taken[w]; word != 0; word &= word - 1)
      slots.push_back(static_cast<std::int32_t>(w * 64) + __builtin_ctzll(word));
    taken[w] = 0;
  }
}

// The distinct blocks of slots that hold a key, as slots, ascending; `length` slots in all.
void widen_to_blocks(std::vector<std::int32_t>& slots, std::int64_t length) {
  for (std::int32_t& slot : slots) slot /= static_cast<std::int32_t>(kMaskedKeys);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  const std::vector<std::int32_t> blocks = slots;
  slots.clear();
  for (const std::int32_t block : blocks)
    for (std::int64_t slot = block * kMaskedKeys; slot < std::min((block + 1) * kMaskedKeys, length); ++slot)
      slots.push_back(static_cast<std::int32_t>(slot));
}

}  // namespace

// Four hashes side by side, each of every fourth word: none waits for another.
std::uint64_t hash_of(const BlockMask& mask) {
  constexpr std::size_t kSides = 4, kWords = std::tuple_size_v<KeyMask>;
  std::array<std::uint64_t, kSides> sides;
  sides.fill(kFnvBasis);
  static_assert(kMaskedKeys * kWords % kSides == 0);
  for (std::size_t word = 0; word < kMaskedKeys * kWords; word += kSides)
    for (std::size_t side = 0; side < kSides; ++side) {
      const std::size_t at = word + side;
      sides[side] = hash_integer(sides[side], static_cast<std::int64_t>(mask[at / kWords][at % kWords]));
    }
  std::uint64_t hash = kFnvBasis;
  for (const std::uint64_t side : sides) hash = hash_integer(hash, static_cast<std::int64_t>(side));
  return hash;
}

WindowTiles::WindowTiles(const Case& work, const KernelChoice& choice)
    : work_(work),
      tiles_(choice.tiles),
      k_slots_(stored_slots(work, choice)),
      of_position_(coordinates_of_positions(work)) {
  if (k_slots_.empty()) return;
  of_key_slot_.resize(of_position_.size());
  for (std::size_t t = 0; t < k_slots_.size(); ++t)
    of_key_slot_[static_cast<std::size_t>(k_slots_[t])] = of_position_[t];
  if (choice.order_tensors != OrderTensors::qkv) return;
  query_rows_.resize(k_slots_.size());
  for (std::size_t t = 0; t < k_slots_.size(); ++t)
    query_rows_[static_cast<std::size_t>(k_slots_[t])] = static_cast<std::int32_t>(t);
}

std::int64_t WindowTiles::size() const {
  return (work_.sequence_length + kMaskedRows - 1) / kMaskedRows;
}

std::int32_t WindowTiles::query_count(std::int64_t tile) const {
  return static_cast<std::int32_t>(std::min(kMaskedRows, work_.sequence_length - tile * kMaskedRows));
}

WindowTiles::Reader::Reader(const WindowTiles& tiles)
    : windows(has_mask_blocks(tiles.work_) ? decltype(windows)(std::in_place_type<TileMask>, tiles.work_)
                                           : decltype(windows)(std::in_place_type<TileWindows>, tiles.work_)),
      taken(static_cast<std::size_t>(tiles.work_.sequence_length / 64 + 1)) {}

std::span<const Coordinates> WindowTiles::queries_of(std::int64_t tile) const {
  const auto& by_slot = query_rows_.empty() ? of_position_ : of_key_slot_;
  return std::span(by_slot).subspan(static_cast<std::size_t>(tile * kMaskedRows),
                                    static_cast<std::size_t>(query_count(tile)));
}

void WindowTiles::read(std::int64_t tile, Reader& reader) const {
  reader.slots.clear();
  std::visit(
      [&](auto& windows) {
        windows.load(queries_of(tile));
        windows.for_each_key([&](std::int32_t position) {
          reader.slots.push_back(k_slots_.empty() ? position : k_slots_[static_cast<std::size_t>(position)]);
        });
      },
      reader.windows);
  if (tiles_ == KeyTiles::aligned)
    widen_to_blocks(reader.slots, work_.sequence_length);
  else if (!k_slots_.empty())
    sort_slots(reader.slots, reader.taken);
}

std::int64_t WindowTiles::count_keys(std::int64_t tile, Reader& reader) const {
  if (tiles_ == KeyTiles::aligned) {
    read(tile, reader);
    return std::ssize(reader.slots);
  }
  std::int64_t keys = 0;
  std::visit(
      [&](auto& windows) {
        windows.load(queries_of(tile));
        windows.for_each_key([&](std::int32_t) { ++keys; });
      },
      reader.windows);
  return keys;
}

bool WindowTiles::read_mask(const Reader& reader, std::size_t first, BlockMask& mask) const {
  const auto& by_slot = of_key_slot_.empty() ? of_position_ : of_key_slot_;
  const std::size_t count = std::min<std::size_t>(kMaskedKeys, reader.slots.size() - first);
  constexpr std::size_t kAhead = 16;  // keys of a scattered tile lie in as many cache lines
  bool partial = false;
  std::visit(
      [&](const auto& windows) {
        for (std::size_t i = 0; i < count; ++i) {
          if (const std::size_t later = first + i + kAhead; later < reader.slots.size())
            __builtin_prefetch(&by_slot[static_cast<std::size_t>(reader.slots[later])]);
          mask[i] = windows.seen_by(by_slot[static_cast<std::size_t>(reader.slots[first + i])]);
          partial = partial || mask[i] != windows.all();
        }
      },
      reader.windows);
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(count), mask.end(), KeyMask{});
  return partial;
}

TileCounts count_tiles(const WindowTiles& tiles) {
  TileCounts counts;
  std::unordered_set<std::uint64_t> hashes;
#pragma omp parallel
  {
    WindowTiles::Reader reader(tiles);
    TileCounts own;
    std::unordered_set<std::uint64_t> own_hashes;
    BlockMask mask;
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t tile = 0; tile < tiles.size(); ++tile) {
      tiles.read(tile, reader);
      own.keys += std::ssize(reader.slots);
      own.computed += static_cast<double>(tiles.query_count(tile)) * static_cast<double>(reader.slots.size());
      for (std::size_t first = 0; first < reader.slots.size(); first += kMaskedKeys) {
        ++own.blocks;
        if (!tiles.read_mask(reader, first, mask)) continue;
        ++own.partial_blocks;
        own_hashes.insert(hash_of(mask));
      }
    }
#pragma omp critical(hilbench_tile_counts)
    {
      counts.computed += own.computed;
      counts.keys += own.keys;
      counts.blocks += own.blocks;
      counts.partial_blocks += own.partial_blocks;
      hashes.merge(own_hashes);
    }
  }
  counts.masks = std::ssize(hashes);
  return counts;
}

// On an H100 lists took 10 to 12 % longer than blocks where both compute the same pairs
// (windows/natten-shapes). Half of that is left for what blocks cost otherwise: they need more masks.
KeyTiles faster_tiles(const TileCounts& united, const TileCounts& aligned) {
  constexpr double kFurtherPairs = 1.05;
  return aligned.computed <= kFurtherPairs * united.computed ? KeyTiles::aligned : KeyTiles::united;
}

}  // namespace hilbench
