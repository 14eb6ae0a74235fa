#include "harness/worker/make_variant.hpp"

#include "harness/external/external_variant.hpp"
#include "harness/measure/one_rank_variant.hpp"
#include "harness/ring/ring_variant.hpp"

namespace hilbench {

std::unique_ptr<PreparedVariant> make_variant(Bench& bench, const Record& record) {
  if (record.variant.baseline && find_external(bench.externals, record.kernel) != nullptr)
    return make_external_variant(bench, record);
  if (record.work.ring_size > 1) return make_ring_variant(bench, record);
  return make_one_rank_variant(bench, record);
}

}  // namespace hilbench
