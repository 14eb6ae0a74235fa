#include "harness/plan/compared_sectors.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/derived_sectors.hpp"
#include "baselines/table.hpp"
#include "kernels/machine/named_gpus.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

Case dense_case() {
  Case work{.sequence_length = 256, .pattern = {{256, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 128};
  work.dtype = Dtype::bf16;
  work.device = DeviceKind::cuda;
  return work;
}

Sectors dense_sectors() {
  const Implementation& implementation = *find_implementation("dilated_wgmma", DeviceKind::cuda);
  const StreamDevice gpu = stream_device(named_gpu("h100"));
  const KernelChoice choice{.name = "dilated_wgmma"};
  return implementation.stream->sectors(dense_case(), choice,
                                        streamed_index(dense_case(), choice, implementation, gpu), gpu);
}

Record counted_record(const Sectors& sectors) {
  Record record = sample::record(dense_case(), "dilated_wgmma", "linear");
  record.kernel = "dilated_wgmma";
  *record.environment = {
      {"time", "2026-11-26T00:00:00Z"},
      {"device", {{"name", "H100"}, {"compute_capability", "9.0"}, {"multiprocessors", 132}}}};
  for (const SectorPair& pair : sector_pairs())
    record.counters[std::string(pair.counter)] = {
        .value = static_cast<double>(pair.derived(sectors)), .unit = "sectors", .source = "cupti_range"};
  return record;
}

TEST(ComparedSectors, TellEqualFromDifferentAndFromOlder) {
  const Sectors sectors = dense_sectors();
  SectorComparison comparison;
  comparison.add(counted_record(sectors));
  EXPECT_EQ(comparison.found().compared(), 1u);
  EXPECT_TRUE(comparison.found().differences.empty());

  Record other = counted_record(sectors);
  *other.counters["tma_load_sectors"].value += 1;
  comparison.add(other);
  ASSERT_EQ(comparison.found().differences.size(), 1u);
  EXPECT_EQ(comparison.found().differences[0].counter, "tma_load_sectors");
  EXPECT_EQ(comparison.found().different.at("dilated_wgmma"), 1u);

  Record older = counted_record(sectors);
  (*older.environment)["time"] = "2026-11-22T00:00:00Z";
  comparison.add(older);
  Record of_other_tiles = counted_record(sectors);
  of_other_tiles.counters["derived_tma_sectors"] = {.value = 1, .unit = "sectors", .source = "derived"};
  comparison.add(of_other_tiles);
  Record uncounted = counted_record(sectors);
  uncounted.counters.clear();
  comparison.add(uncounted);
  EXPECT_EQ(comparison.found().compared(), 2u);
  EXPECT_EQ(comparison.found().not_compared.size(), 2u);
}

TEST(ComparedSectors, ExplainReadsOfTheL2ByWhatTheCoalescerMerged) {
  const Sectors sectors = dense_sectors();
  const auto asked = static_cast<double>(sectors.read());
  Record record = counted_record(sectors);
  const auto counted = [&](const char* name, std::vector<double> counts) {
    record.counters[name] = {
        .value = counts[0], .unit = "sectors", .source = "cupti_range", .counts = counts};
  };
  SectorComparison comparison;
  comparison.add(record);
  EXPECT_TRUE(comparison.found().l2_reads.shares.empty()) << "the coalescer was not counted";

  const double by_tma = static_cast<double>(sectors[MemoryPath::tma].sectors) / asked;
  counted("l1_load_hit_sectors", {100});
  counted("coalesced_sectors", {0, asked / 4});
  counted("dram_read_sectors", {0, 400});
  counted("coalescer_l2_read_sectors", {asked - 100, 1.01 * (0.75 * asked - 100 + 100 * by_tma)});
  comparison.add(record);
  const Deviations& reads = comparison.found().l2_reads;
  EXPECT_EQ(reads.records.size(), 1u);
  ASSERT_EQ(reads.shares.size(), 2u);
  EXPECT_NEAR(reads.shares[0], 0, 1e-9);
  EXPECT_NEAR(reads.shares[1], 0.01, 1e-9);
}

TEST(ComparedSectors, SayHowMuchCountsOfDramDiffer) {
  Record record = counted_record(dense_sectors());
  record.min_bytes = 1000;
  const auto counted = [&](const char* name, std::vector<double> counts) {
    record.counters[name] = {.value = counts[0], .unit = "B", .source = "cupti_range", .counts = counts};
  };
  counted("dram_read_bytes", {100, 130, 70});
  counted("dram_write_bytes", {10, 10, 10});
  SectorComparison comparison;
  comparison.add(record);
  ASSERT_EQ(comparison.found().dram_bytes.shares.size(), 1u);
  EXPECT_NEAR(comparison.found().dram_bytes.shares[0], 0.03, 1e-9) << "of the bytes that must be moved";
  record.min_bytes = 10;
  comparison.add(record);
  EXPECT_NEAR(comparison.found().dram_bytes.shares[1], 30.0 / 110, 1e-9) << "of their mean";
}

}  // namespace
}  // namespace hilbench
