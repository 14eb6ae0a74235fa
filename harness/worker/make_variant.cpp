#include "harness/worker/make_variant.hpp"

#include "harness/external/external_variant.hpp"
#include "harness/measure/one_rank_variant.hpp"
#include "harness/ring/ring_variant.hpp"

namespace hilbench {

std::unique_ptr<PreparedVariant> make_variant(Bench& bench, const Record& record,
                                              ComparisonPrograms& programs) {
  if (programs.has(record)) return make_external_variant(bench, programs, record);
  if (record.work.ring_size > 1) return make_ring_variant(bench, record);
  return make_one_rank_variant(bench, record);
}

}  // namespace hilbench
