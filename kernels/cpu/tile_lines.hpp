// What dilated_cpu asks of the memory system: the 64-byte lines of the tensors and of the index.
//
// All its instruction sets read alike. A tile copies each row of Q, and each row of K and V that one of its
// queries sees, once, whole and in place, from its tensor into a buffer of the thread; what it then reads and
// writes is that buffer, which is not counted. A row counts by itself, even if it shares lines with another.
// Of tables and of LSE a line counts once a tile; tables are taken to begin at a line. That processors read a
// line of O before they write it is not counted, nor are prefetches, which ask for rows that are copied
// anyway.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench {

// Lines as `sectors`, rows or entries as `requests`. loads: rows of Q, K and V, and earlier results that
// tiles merge with or that are rounded at the end. tables: slots and positions of keys, slots of queries,
// masks, the list of tiles. stores, clears: as of GPUs. Of the forward pass on one rank, by the tiles of
// `index`.
Sectors tile_lines(const Case& work, const Index& index);

}  // namespace hilbench
