#include "tests/reports/sample_records.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/records/verdicts.hpp"
#include "reports/view/judge.hpp"

namespace hilbench::sample {
namespace {

nlohmann::json environment() {
  return {{"host",
           {{"cpu", "Example 9654 96-Core Processor"},
            {"cores", 2},
            {"memory_bytes", std::int64_t{8} << 30},
            {"caches", {{{"level", 1}, {"bytes", 32768}}, {{"level", 2}, {"bytes", 1048576}}}},
            {"governor", nullptr}}},
          {"device", {{"kind", "cpu"}}},
          {"build", {{"version", "0.1.0"}, {"compiler", "GNU 12.2.0"}}},
          {"time", "2026-01-02T03:04:05Z"}};
}

void locality(Record& made, double jump, double lines) {
  made.counters["layout_mean_jump"] = {.value = jump, .unit = "rows", .source = "layout"};
  made.counters["layout_lines_64_per_tile"] = {.value = lines, .unit = "lines", .source = "layout"};
  made.counters["layout_pages_4k_per_tile"] = {.value = lines / 8, .unit = "pages", .source = "layout"};
  made.counters["l1d_read_misses"] = {
      .unit = "", .source = "perf", .reason = "no hardware events in this machine"};
}

}  // namespace

Case work(std::int64_t length, std::vector<Branch> pattern) {
  return {.sequence_length = length,
          .pattern = std::move(pattern),
          .heads = 8,
          .kv_heads = 8,
          .head_dim = 64,
          .device = DeviceKind::cpu};
}

Record record(const Case& of, std::string_view kernel, std::string_view order, bool baseline) {
  Record made;
  made.sweep = "quick";
  made.work = of;
  made.kind = baseline ? ImplementationKind::baseline : ImplementationKind::kernel;
  made.variant = variant_named(made.kind, std::string(kernel));
  if (!baseline) made.variant.change().order = order;
  made.case_id = case_id(of);
  made.kernel = baseline ? std::string(kernel) : "dilated_cpu";
  if (order == "hilbert") made.order_chunk = made.variant.change().order_chunk = 4096;
  made.variant_id = variant_id(made.variant);
  made.threads = 2;
  made.environment = environment();
  return made;
}

void time(Record& made, double size, double factor, double ripple_phase) {
  made.time = Timing{.timer = "steady_clock"};
  for (int round = 0; round < 12; ++round) {
    const double drift = 1 + 0.02 * std::sin(round),
                 ripple = 1 + 0.006 * std::sin(5.0 * round + ripple_phase);
    made.time->samples_ns.push_back(20e6 * size * factor * drift * ripple);
  }
  made.time->process_rounds = {12};
  made.time->median_ns = median(made.time->samples_ns);
  made.time->ci_ns = median_interval({made.time->samples_ns, made.time->process_rounds});
  made.verify = Verification{
      .before = {.max_abs = 1.5e-6, .rel_l2 = 4e-7, .lse_max_abs = 1e-6, .rows = 256, .tolerance = 2e-5}};
  made.flops = 4e9 * size;
  made.min_bytes = 6e7;
  made.tflops = *made.flops / made.time->median_ns / 1e3;
  made.memory_bytes = 7e7;
}

void compare_with(Record& made, const Record& reference) {
  const Effect effect = paired_effect({reference.time->samples_ns, reference.time->process_rounds},
                                      {made.time->samples_ns, made.time->process_rounds});
  const Ratio ratio = ratio_of(effect);
  made.reference = reference.variant_id;
  made.speedup = Measured{.ratio = ratio.value,
                          .ci = ratio.ci,
                          .processes = effect.processes,
                          .verdict = verdict_of(effect, made.margin),
                          .margin = made.margin,
                          .against = reference.variant_id};
  if (made.variant.kernel().order_scope == OrderScope::tokens)
    made.speedup->verdict = Verdict::different_function;
}

void add_comparison(std::vector<Record>& records, const Case& of, double size) {
  Record linear = record(of, "dilated", "linear");
  time(linear, size, 1, 0);
  locality(linear, 1, 8192);
  struct Order {
    std::string_view name;
    double factor, jump, lines;
  };
  const Order orders[] = {
      {"hilbert", 1.0 - 0.04 * size, 9.5, 8192}, {"residue", 0.999, 1, 8192}, {"random", 1.08, 1365, 8192}};
  records.push_back(linear);
  for (const Order& order : orders) {
    Record made = record(of, "dilated", order.name);
    time(made, size, order.factor, order.jump);
    locality(made, order.jump, order.lines);
    made.permute_ns = 1.9e6 * size;
    made.memory_bytes = 1.05e8;
    compare_with(made, linear);
    records.push_back(made);
  }
  Record tokens = record(of, "dilated", "hilbert");
  tokens.variant.change().order_scope = OrderScope::tokens;
  tokens.variant_id = variant_id(tokens.variant);
  time(tokens, size, 1.03, 2);
  compare_with(tokens, linear);
  records.push_back(tokens);
  Record gemm = record(of, "gemm", "linear", true);
  time(gemm, size, 2.4, 4);
  compare_with(gemm, linear);
  records.push_back(gemm);
  Record peak = record(of, "peak", "linear", true);
  time(peak, 1, 0.5, 1);
  peak.verify.reset();
  peak.min_bytes.reset();
  peak.tflops = 0.366;
  peak.counters["copy_bytes_per_s"] = {.value = 2.4e10, .unit = "B/s", .source = "measured"};
  records.push_back(peak);
}

Record without_time(const Case& of, std::string_view order, Status status, std::string reason) {
  Record made = record(of, "dilated", order);
  made.status = status;
  made.reason = std::move(reason);
  return made;
}

ReportInput input() {
  ReportInput made;
  made.meta = {
      {"sweep", "quick"}, {"title", std::string(kHostile)}, {"command", "hilbench run sweeps/quick.yaml"}};
  made.source = "results/quick";
  const Case cases[] = {work(8192, {{2048, 1}}), work(8192, {{2048, 1}, {4096, 2}}), work(16384, {{4096, 1}}),
                        work(16384, {{4096, 2}})};
  const double sizes[] = {1, 1.7, 3.9, 1.1};
  for (int i = 0; i < 4; ++i) add_comparison(made.records, cases[i], sizes[i]);
  made.records.push_back(
      without_time(cases[0], "gray", Status::failed, "wrong output: " + std::string(kHostile)));
  made.records.push_back(without_time(cases[1], "moore", Status::skipped, "needs 9.1 GiB, 7.2 GiB are free"));
  made.records.push_back(without_time(cases[2], "seed_list", Status::invalid, "length 16, case has 16384"));
  judge(made.records);
  return made;
}

std::vector<Record> many(std::size_t count) {
  std::vector<Record> records;
  for (std::int64_t i = 0; records.size() < count; ++i) {
    const Case of = work(4096 + 16 * i, {{2048, std::int64_t{1} << (i % 5)}});
    std::vector<Record> first;
    if (records.empty()) {
      add_comparison(first, of, 1);
    } else {
      first.assign(records.begin(), records.begin() + 7);
      for (Record& made : first) {
        made.work = of;
        made.case_id = case_id(of);
      }
    }
    records.insert(records.end(), first.begin(), first.end());
  }
  records.resize(count);
  return records;
}

}  // namespace hilbench::sample
