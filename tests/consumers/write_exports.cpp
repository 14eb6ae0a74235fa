// Writes an invented store into DIR, reads it, and exports it into DIR/<format>. SPEED scales its times.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/run/environment.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/host.hpp"
#include "reports/export/export.hpp"
#include "reports/records/stats.hpp"
#include "reports/records/store.hpp"

namespace {

using namespace hilbench;

// Every printing character of ASCII, and some that are not; LaTeX acts on many of them.
constexpr const char* kHostile =
    "[*=+-@ !\"#$%&'()*+,-./0:;<=>?@A[\\]^_`a{|}~ \\input{x} ?` !` -- ,, \x01\x1b\n\u00e9\u2028";

Record make_record(const Case& work, const std::string& order, double centre_ns, std::mt19937_64& engine) {
  std::normal_distribution<double> noise(1, 0.01);
  Record record;
  record.sweep = "made-up";
  record.work = work;
  record.variant.change().name = "dilated";
  record.variant.change().order = order;
  record.case_id = case_id(work);
  record.variant_id = variant_id(record.variant);
  record.reference = "dilated/linear";
  record.kernel = "dilated_cpu";
  record.threads = 2;
  Timing time{.process_rounds = {10, 10}, .timer = "steady_clock"};
  for (int round = 0; round < 20; ++round) time.samples_ns.push_back(centre_ns * noise(engine));
  time.median_ns = time_median({time.samples_ns, time.process_rounds});
  time.ci_ns = median_interval({time.samples_ns, time.process_rounds});
  record.time = time;
  record.verify = {.before = {.max_abs = 1e-6, .rel_l2 = 1e-7, .rows = 256, .tolerance = 1e-4}};
  record.counters["page_faults"] = {.value = 12, .unit = "count", .source = "perf", .passes = 1};
  record.counters["cycles"] = {.unit = "count", .source = "perf", .reason = "not here, \"really\""};
  return record;
}

void write_exports(const std::filesystem::path& folder, double speed) {
  std::mt19937_64 engine(7);
  Store store = Store::open_for_writing(folder);
  const nlohmann::json environment = environment_json({.host = inspect_host()}, DeviceKind::cpu);
  for (const std::int64_t length : {8192, 16384}) {
    const Case work{.sequence_length = length, .kv_heads = 8, .device = DeviceKind::cpu};
    std::vector<Record> records = {make_record(work, "linear", 1e6 * speed, engine),
                                   make_record(work, "hilbert", 1.1e6 * speed, engine),
                                   make_record(work, "random", 2e6 * speed, engine)};
    records.back().status = Status::failed;
    records.back().reason = "made up, with a comma";
    records.back().time.reset();
    records.push_back(make_record(work, "linear", 1e6 * speed, engine));
    records.back().variant_id += "@twin";
    records.back().twin = true;
    for (Record& record : records) record.environment = environment;
    store.commit(case_id(work), {"made-up", 1}, records);
  }
  store.finish();
  for (const std::string_view format : export_formats()) {
    std::ofstream out(folder / format, std::ios::binary);
    export_records(format, store.records(), out, "made-up-host");
  }
  std::vector<Record> hostile = store.records();
  for (Record& record : hostile) {
    record.case_id = kHostile;
    record.variant_id = kHostile;
  }
  std::ofstream out(folder / "latex-hostile", std::ios::binary);
  export_records("latex", hostile, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: write_exports DIR SPEED\n");
    return 2;
  }
  try {
    write_exports(argv[1], std::atof(argv[2]));
  } catch (const Error& error) {
    fmt::print(stderr, "write_exports: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
