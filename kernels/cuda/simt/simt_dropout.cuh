// Which pairs of a lane dropout keeps (kernels/case/dropout.hpp). Lanes hold rows i / 4 * 16 + row lane * 4 +
// i % 4 and columns j * 8 + column lane, both counted from multiples of 16, so that one call of Philox serves
// two of the lane's rows times two of its columns.
#pragma once

#include "kernels/case/dropout.hpp"
#include "kernels/cuda/simt/simt_tiling.cuh"

namespace hilbench::cuda::simt {

enum class Rows { queries, keys };

// Calls visit(i, j, whether it is kept) for each of the lane's pairs. `first_row` is the number in its
// segment of the warp's row 0, `first_column` that of column 0.
template <Rows kRowsAre, typename Shape, class Visit>
__device__ __forceinline__ void visit_kept(const Dropout& dropout, const DropoutStream& stream, int first_row,
                                           int first_column, int row_lane, int column_lane,
                                           const Visit& visit) {
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; i += 2) {
    const std::uint32_t row_patch = dropout_patch(first_row + row_lane * 4 + row_offset(i));
#pragma unroll
    for (int j = 0; j < Shape::kKeysPerLane; j += 2) {
      const std::uint32_t column_patch = dropout_patch(first_column + j * kColumnLanes + column_lane);
      const PhiloxWords words = kRowsAre == Rows::queries
                                    ? dropout_words(dropout, stream, row_patch, column_patch)
                                    : dropout_words(dropout, stream, column_patch, row_patch);
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const int row = pair / 2, column = pair % 2;
        // Places in the patch (dropout_place) of rows: row + 2 * (row lane / 2); of columns: column lane % 2
        // + 2
        // * column. The query's is the word, the key's the byte.
        std::uint32_t word;
        int byte;
        if constexpr (kRowsAre == Rows::queries) {
          word = row_lane < 2 ? words.word[row] : words.word[row + 2];
          byte = column_lane % 2 + 2 * column;
        } else {
          word = column_lane % 2 == 0 ? words.word[2 * column] : words.word[2 * column + 1];
          byte = row + row_lane / 2 * 2;
        }
        visit(i + row, j + column, (word >> 8 * byte & 255) < dropout.threshold);
      }
    }
  }
}

}  // namespace hilbench::cuda::simt
