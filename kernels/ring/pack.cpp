#include "kernels/ring/pack.hpp"

#include <cstddef>
#include <cstring>

namespace hilbench {

void pack_rows(const void* from, void* to, std::int64_t batch, std::int64_t from_rows,
               const PackedShard& packed, std::int64_t head_bytes, int threads) {
  const auto heads = static_cast<std::int64_t>(packed.class_of_head.size());
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t at = 0; at < batch * packed.rows; ++at) {
    const auto row = static_cast<std::size_t>(at % packed.rows);
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto& slots =
          packed.slots[static_cast<std::size_t>(packed.class_of_head[static_cast<std::size_t>(head)])];
      if (row >= slots.size()) continue;
      const std::int64_t entry = at / packed.rows, source = entry * from_rows + slots[row];
      const std::int64_t target =
          packed.heads_first ? (entry * heads + head) * packed.rows + at % packed.rows : at * heads + head;
      std::memcpy(static_cast<std::byte*>(to) + target * head_bytes,
                  static_cast<const std::byte*>(from) + (source * heads + head) * head_bytes,
                  static_cast<std::size_t>(head_bytes));
    }
  }
}

}  // namespace hilbench
