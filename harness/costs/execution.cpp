#include "harness/costs/execution.hpp"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/costs/count.hpp"
#include "harness/counters/counters.hpp"
#include "harness/measure/bench.hpp"
#include "harness/ring/thread_ranks.hpp"
#include "harness/worker/make_variant.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "kernels/cpu/dilated_tile.hpp"

namespace hilbench {
namespace {

// A ring counts what each of its ranks does; other variants are counted from outside.
Counter count_by_hardware(PreparedVariant& prepared) {
  const CounterSet set = instruction_counter_set();
  std::map<std::string, Counter> counters;
  const PreparedTraits& traits = prepared.traits();
  if (!traits.why_not_counted.empty()) return {.reason = traits.why_not_counted};
  if (traits.count)
    counters = traits.count(set);
  else
    counters = count(
        set, 1, [] {}, [&] { prepared.run(); });
  return counters.at(set.events.front().name);
}

class Counting {
 public:
  Counting(const ComparisonTask& task, bool by_hardware) : task_(task), by_hardware_(by_hardware) {}

  nlohmann::json all() {
    nlohmann::json variants = nlohmann::json::array();
    for (const Record& record : task_.records) {
      nlohmann::json answer = {{"variant", record.variant_id}};
      try {
        answer.update(once(record));
      } catch (const std::exception& error) {
        answer["reason"] = error.what();
      }
      variants.push_back(std::move(answer));
    }
    return variants;
  }

 private:
  // A bench for each variant: then its cost does not depend on which variants came before.
  nlohmann::json once(const Record& record) {
    ComparisonTask task = task_;
    task.records = {record};
    Bench bench(task, thread_rings());
    ComparisonPrograms programs(task);
    const std::unique_ptr<PreparedVariant> prepared = make_variant(bench, record, programs);
    prepared->run();
    if (by_hardware_) {
      const Counter counter = count_by_hardware(*prepared);
      if (!counter.value) return {{"reason", counter.reason}};
      return {{"instructions", *counter.value}};
    }
    bench.device->profile([&] { prepared->run(); });
    return {{"part", ++parts_}};
  }

  const ComparisonTask& task_;
  bool by_hardware_;
  int parts_ = 0;
};

}  // namespace

nlohmann::json count_executions(const nlohmann::json& request) {
  const ComparisonTask task = task_from_json(request.at("task"));
  const bool by_hardware = request.at("by") == "hardware";
  // Valgrind computes a fused multiplication and addition (AVX2) in a function of its own for each element:
  // more than ten times as slow as what SSE4 has in its place. A better target has a lower number.
  if (!by_hardware) hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_SSE4 - 1));
  return {{"instruction_set", vector_instructions()},
          {"bf16_products", name_of(chosen_bf16_products().products)},
          {"variants", Counting(task, by_hardware).all()}};
}

}  // namespace hilbench
