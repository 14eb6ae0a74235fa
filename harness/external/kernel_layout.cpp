#include "harness/external/kernel_layout.hpp"

#include <fmt/format.h>

#include <numeric>

#include "kernels/index/index.hpp"

namespace hilbench {
namespace {

std::shared_ptr<const SharedFile> written_numbers(const char* name,
                                                  const std::vector<std::int32_t>& numbers) {
  auto file = std::make_shared<SharedFile>(name);
  file->write(numbers.data(), numbers.size() * sizeof(std::int32_t));
  file->seal();
  return file;
}

std::string traversal_text(const KernelChoice& choice) {
  return to_string(Traversal{choice.traversal, choice.traversal_param});
}

}  // namespace

StoredOrder stored_order(const Case& work, const KernelChoice& choice) {
  if (choice.order == "linear") return {};
  KernelChoice order = choice;  // variants with other traversals share its files
  order.traversal = KernelChoice{}.traversal;
  order.traversal_param.reset();
  return {.key = variant_id({order}), .slots = stored_slots(work, choice)};
}

std::vector<std::int32_t> tile_numbers(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                                       const TraversalFacts& facts) {
  const Index index = build_index(work, choice, tile_rows, facts);
  std::vector<std::int32_t> numbers;
  for (std::size_t launch = 0; launch < index.branches.size(); ++launch) {
    const BranchIndex& branch = index.branches[launch];
    for (const IndexTile& tile : branch.tiles) {
      const std::int32_t first_key =
          tile.key_count > 0 ? branch.key_position[static_cast<std::size_t>(tile.key_begin)] : 0;
      const std::int32_t flags =
          (tile.merge ? kTileMerges : 0) | (tile.keys_backwards ? kTileGoesBackwards : 0);
      numbers.insert(numbers.end(), {static_cast<std::int32_t>(launch), tile.batch, tile.head, tile.kv_head,
                                     tile.query_row, tile.query_step, tile.query_count, first_key,
                                     branch.key_step, tile.key_count, tile.unmasked, flags});
    }
  }
  return numbers;
}

KernelLayout kernel_layout(const Case& work, const KernelChoice& choice, const StoredOrder& order,
                           std::int64_t tile_rows, const TraversalFacts& facts) {
  std::vector<std::int32_t> slots = order.slots;
  if (slots.empty()) {
    slots.resize(static_cast<std::size_t>(work.sequence_length));
    std::iota(slots.begin(), slots.end(), 0);
  }
  KernelLayout layout{.slots = written_numbers("slots", slots), .tiles = nullptr, .request = {}};
  layout.request = {
      {"order", choice.order}, {"traversal", traversal_text(choice)}, {"slots", layout.slots->path()}};
  if (tile_rows == 0 || has_windows(work)) return layout;
  layout.tiles = written_numbers("tiles", tile_numbers(work, choice, tile_rows, facts));
  layout.request["tiles"] = layout.tiles->path();
  return layout;
}

}  // namespace hilbench
