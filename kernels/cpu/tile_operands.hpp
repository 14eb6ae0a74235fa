// The tiles of an index as the CPU kernels take them.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

// Where Q, K, V and LSE of the tile are, and which queries and keys it has. Its o is not set.
Tile tile_operands(const Case& work, const Operands& operands, const Index& index, const BranchIndex& branch,
                   const IndexTile& tile);

}  // namespace hilbench
