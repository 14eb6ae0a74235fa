#include "harness/plan/plan.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "baselines/table.hpp"
#include "harness/plan/plan_tables.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "tests/harness/plan/planning.hpp"

namespace hilbench {
namespace {

TEST(Plan, ResolvesDeviceThreadsAndVariants) {
  const Comparison comparison = comparison_of("sequence_length: 4096, segments: [2048], threads: 3");
  EXPECT_EQ(comparison.work.device, DeviceKind::cpu);
  EXPECT_EQ(comparison.case_id, "n4096-w2048-r1-h8-d64-fp32-p1-cpu-threads.3");
  EXPECT_EQ(comparison.threads, 3);
  ASSERT_EQ(comparison.variants.size(), 5u);
  EXPECT_EQ(comparison.variants[1].variant_id, "dilated/hilbert");
  EXPECT_EQ(comparison.variants[1].implementation->name, "dilated_cpu");
  EXPECT_TRUE(comparison.runnable());
  const PlannedVariant& twin = comparison.variants.back();
  EXPECT_TRUE(twin.twin);
  EXPECT_EQ(twin.variant_id, "dilated/linear@twin");
  EXPECT_GT(twin.own.device, comparison.variants[0].own.device) << "K and V of its own";
}

TEST(Plan, CountsWorkMemoryAndTime) {
  const Comparison comparison =
      comparison_of("sequence_length: 1024, segments: [256], heads: 2, head_dim: 32, threads: 2");
  const PlannedVariant& linear = comparison.variants[0];
  EXPECT_DOUBLE_EQ(*linear.flops, 4.0 * 32 * 2 * 1024 * 256) << "every pair of four segments, two heads";
  const double tensor = 1024.0 * 2 * 32 * 4;
  EXPECT_GE(*linear.min_bytes, 4 * tensor);
  EXPECT_GE(*linear.memory_bytes, 6 * tensor) << "Q, K, V, O and the keys and values of the oracle";
  EXPECT_GE(*comparison.variants[1].memory_bytes - *linear.memory_bytes, 2 * tensor) << "permuted K and V";
  EXPECT_EQ(*linear.comm_bytes, 0);
  EXPECT_DOUBLE_EQ(*linear.seconds, *linear.flops / (32 * 2e9 * 2));
  const PlannedVariant& peak = comparison.variants[3];
  EXPECT_FALSE(peak.min_bytes) << "it reads nothing";
  EXPECT_NE(*peak.flops, *linear.flops);
}

TEST(Plan, SkipsWhatDoesNotFitTheReferenceLast) {
  Site site = planning_site();
  const std::string work = "sequence_length: 8192, segments: [2048]";
  const Comparison roomy = comparison_of(work, site);
  for (const PlannedVariant& planned : roomy.variants) EXPECT_FALSE(planned.skip) << planned.variant_id;
  // Room for the reference and the case's tensors, but not for permuted copies.
  site.host.available_memory_bytes =
      static_cast<std::int64_t>((*roomy.variants[0].memory_bytes + (1 << 20)) / 0.9);
  const Comparison narrow = comparison_of(work, site);
  EXPECT_FALSE(narrow.variants[0].skip);
  EXPECT_EQ(narrow.reference, 0u);
  expect_skipped(narrow.variants[1], "does not fit: the comparison would need");
  site.host.available_memory_bytes = 1 << 20;
  const Comparison none = comparison_of(work, site);
  EXPECT_FALSE(none.runnable());
  EXPECT_FALSE(none.reference) << "a skipped variant is no reference";
}

TEST(Plan, CountsTheFilesThatExternalProgramsShareOnce) {
  const auto variants = [](double usable) {
    Site site = planning_site();
    site.host.available_memory_bytes = static_cast<std::int64_t>(usable / kUsableMemory);
    const std::string sweep =
        "name: plan\ncases: [{sequence_length: 65536, segments: [2048]}]\n"
        "external: {one: {command: [one]}, two: {command: [two]}}\n"
        "variants: [{kernel: dilated, order: linear}]\nbaselines: [one, two]\n";
    return make_plan(parse_sweep(sweep, "plan.yaml", {.external_use = ExternalUse::allowed}), site)
        .comparisons.at(0)
        .variants;
  };
  const auto roomy = variants(0x1p40);
  ASSERT_EQ(roomy.at(2).variant_id, "two");
  const double tensor = 8.0 * 64 * 65536 * 4, files = 3 * tensor;
  EXPECT_EQ(*roomy[2].memory_bytes, *roomy[1].memory_bytes) << "each is counted as if it were alone";
  const double all = *roomy[0].memory_bytes + roomy[1].own.device + roomy[2].own.device - files;
  EXPECT_FALSE(variants(all + 1e5)[2].skip);
  expect_skipped(variants(all - 1e5)[2], "does not fit: the comparison would need");
  EXPECT_FALSE(variants(all - 1e5)[1].skip);
}

TEST(Plan, FitsEverythingWhereMemoryIsUnknown) {
  Site site = planning_site();
  site.host.available_memory_bytes = 0;
  EXPECT_TRUE(comparison_of("sequence_length: 4096, segments: [2048]", site).runnable());
}

TEST(Plan, SkipsWhatKernelsCannotDoWithTheReason) {
  const auto first = [](const std::string& parameters) {
    return comparison_of("sequence_length: 4096, segments: [2048], " + parameters).variants.at(0);
  };
  expect_skipped(first("dtype: fp16"), "fp16");
  expect_skipped(first("head_dim: 512"), "head_dim 16 to 256, not 512");
  EXPECT_FALSE(first("pass: backward").skip);
  EXPECT_FALSE(first("pass: both").skip);
  expect_skipped(first("pass: both, dtype: fp16"), "fp16");
  expect_skipped(first("pass: backward, ring_size: 2"), "rings compute only the forward pass");
  EXPECT_FALSE(first("ring_size: 2").skip);
  expect_skipped(first("ring_size: 2, dtype: fp16"), "dilated_cpu stores fp32 or bf16, not fp16");
  expect_skipped(first("ring_size: 300"), "at most 256 ranks");
  expect_skipped(first("device: cuda"), "no GPU was looked for");
}

// A site whose system gives huge pages to memory that asks for them, with a GPU.
Site site_with_huge_pages() {
  Site site = planning_site();
  site.host.huge_pages = {.enabled = "madvise", .bytes = 2 << 20};
  site.gpu = Gpu{.name = "GPU", .compute_capability = 90, .multiprocessors = 1, .memory_bytes = 1 << 30};
  return site;
}

TEST(Plan, ChoosesPagesWhereTheSystemGivesThem) {
  const std::string work = "sequence_length: 4096, segments: [2048], device: cpu, pages: ";
  const auto expect_all = [](const Comparison& comparison, const std::string& reason) {
    for (const PlannedVariant& planned : comparison.variants)
      if (reason.empty())
        EXPECT_FALSE(planned.skip) << *planned.skip;
      else
        expect_skipped(planned, reason);
  };
  const Site site = site_with_huge_pages();
  const Comparison huge = comparison_of(work + "2m", site);
  EXPECT_EQ(huge.case_id, "n4096-w2048-r1-h8-d64-fp32-p1-cpu-pages.2m");
  expect_all(huge, "");
  expect_all(comparison_of(work + "4k", site), "");
  expect_all(comparison_of(work + "default", planning_site()), "");
  expect_all(comparison_of(work + "4k", planning_site()), "");
  expect_all(comparison_of(work + "2m", planning_site()),
             "pages 2m: this kernel has no transparent huge pages");
  Site never = site;
  never.host.huge_pages.enabled = "never";
  expect_all(comparison_of(work + "2m", never), "transparent_hugepage/enabled is never");
  EXPECT_FALSE(comparison_of(work + "2m", never).reference);
}

TEST(Plan, SkipsPagesThatItCannotChooseOrCheck) {
  const auto first = [](const std::string& parameters, const std::string& variants, Site site) {
    return plan_of("cases:\n  - {sequence_length: 4096, segments: [4096], pages: 4k" + parameters + "}\n" +
                       variants,
                   site)
        .comparisons.at(0)
        .variants.at(0);
  };
  const Site site = site_with_huge_pages();
  const std::string plain = "variants: [{kernel: dilated}]\n";
  expect_skipped(first(", device: cuda", plain, site),
                 "pages 4k: a GPU's driver chooses the pages of its memory");
  expect_skipped(first(", device: cpu", "variants: [{kernel: dilated, buffers: fresh}]\n", site),
                 "pages 4k: they are checked before anything is timed, so buffers must be pooled");
  EXPECT_FALSE(first(", device: cpu, ring_size: 4", plain, site).skip);
  Site launched = site;
  launched.processes = 4;
  expect_skipped(first(", device: cpu, ring_size: 4", plain, launched), "each rank of this ring is one");
  EXPECT_FALSE(
      first(", device: cpu, ring_size: 4", "variants: [{kernel: dilated, transport: threads}]\n", launched)
          .skip);
  SweepOverrides allowed;
  allowed.external_use = ExternalUse::allowed;
  const Plan plan =
      make_plan(parse_sweep("name: plan\ncases: [{sequence_length: 4096, device: cpu, pages: 4k}]\n"
                            "external: {rival: {command: [rival]}}\nbaselines: [rival]\n",
                            "plan.yaml", allowed),
                site);
  expect_skipped(plan.comparisons.at(0).variants.at(0), "pages 4k: another program chooses the pages");
}

TEST(Plan, TellsHowLongSteadySamplesTake) {
  const std::string keys = std::string("cases:\n  - {sequence_length: 4096, segments: [2048]}\n") + kVariants;
  const Plan plan = plan_of(keys);
  const Comparison& comparison = plan.comparisons[0];  // four variants and a twin
  EXPECT_EQ(timing_s({.budget_s = 30, .processes = 3}, comparison), 10);
  EXPECT_DOUBLE_EQ(timing_s({.budget_s = 30, .steady = true, .processes = 3}, comparison), 5 * 2.4);
  EXPECT_DOUBLE_EQ(timing_s({.budget_s = 30, .steady = true, .processes = 2}, comparison), 5 * 2 * 2.4);
  EXPECT_DOUBLE_EQ(timing_s({.budget_s = 30, .steady = true}, comparison), 5 * 3 * 2.4);
  EXPECT_EQ(timing_s({.budget_s = 60, .steady = true}, comparison), 60) << "the budget is longer";
  EXPECT_EQ(plan_table(plan).find("steady"), std::string::npos);
  const std::string table = plan_table(plan, {.budget_s = 30, .steady = true, .processes = 3});
  EXPECT_NE(table.find("2 s or more of executions back to back; timing takes about 36 s"), std::string::npos)
      << table;
}

// A host with a GPU of this compute capability and so much memory.
Site gpu_site(int capability, std::int64_t memory_bytes = std::int64_t{1} << 34) {
  Site site = planning_site();
  site.gpu = Gpu{.name = "Example",
                 .compute_capability = capability,
                 .multiprocessors = 40,
                 .clock_ghz = 1.5,
                 .memory_bytes = memory_bytes};
  return site;
}

// What becomes of `kernel` in one point of `parameters`.
PlannedVariant on_gpu(const std::string& kernel, const std::string& parameters, const Site& site) {
  return planned("segments: [2048], device: cuda, " + parameters, "kernel: " + kernel + ", order: linear",
                 site);
}

TEST(Plan, SkipsWhatAGpuCannotDoWithTheReason) {
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  for (const char* kernel : {"dilated_mma", "dilated_wgmma"})
    if (const auto reason = find_implementation(kernel, DeviceKind::cuda)->why_not(work, {}))
      GTEST_SKIP() << *reason;
  // A build may be for the GPU of its machine alone.
  const auto mma = on_gpu("dilated_mma", "dtype: bf16", gpu_site(80));
  if (mma.skip && mma.skip->starts_with("this build has code for")) GTEST_SKIP() << *mma.skip;
  EXPECT_FALSE(mma.skip);
  expect_skipped(on_gpu("dilated_mma", "dtype: bf16", gpu_site(75)),
                 "dilated_mma needs compute capability 8.0, this GPU has 7.5");
  expect_skipped(on_gpu("dilated_mma", "dtype: fp32", gpu_site(80)), "dilated_mma reads fp16 and bf16 only");
  expect_skipped(on_gpu("dilated_mma", "dtype: bf16, head_dim: 48", gpu_site(80)),
                 "dilated_mma has head_dim 32, 64, 96, 128, 256, not 48");
  expect_skipped(on_gpu("dilated_simt", "head_dim: 12", gpu_site(75)),
                 "dilated_simt has head_dim 8 to 256 in steps of 8, not 12");
  expect_skipped(on_gpu("dilated_wgmma", "dtype: bf16", gpu_site(80)),
                 "dilated_wgmma needs compute capability 9.0, this GPU has 8.0");
  expect_skipped(on_gpu("dilated_cpu", "threads: 1", gpu_site(90)),
                 "this build has no `dilated_cpu` for device cuda");
}

TEST(Plan, TakesTheDtypeAndTheRivalsThatTheDeviceIsFor) {
  const auto planned_on = [](const Site& site) {
    return plan_of(
               "cases: [{sequence_length: 4096, segments: [2048], dtype: auto}]\n"
               "variants: [{kernel: dilated}]\nbaselines: [{gemm: cpu}, {cudnn: cuda}]\n",
               site)
        .comparisons.at(0);
  };
  const auto ids = [](const Comparison& comparison) {
    std::vector<std::string> all;
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin) all.push_back(planned.variant_id);
    return all;
  };
  const Comparison on_processor = planned_on(planning_site());
  EXPECT_EQ(on_processor.case_id, "n4096-w2048-r1-h8-d64-fp32-p1-cpu");
  EXPECT_EQ(ids(on_processor), (std::vector<std::string>{"dilated/linear", "gemm"}));
  for (const auto& [capability, dtype] : {std::pair{61, "fp32"}, {75, "fp32"}, {80, "bf16"}, {90, "bf16"}}) {
    const Comparison on_card = planned_on(gpu_site(capability));
    EXPECT_EQ(on_card.case_id, std::string("n4096-w2048-r1-h8-d64-") + dtype + "-p1-cuda");
    EXPECT_FALSE(on_card.work.dtype_by_device) << "it is found";
    EXPECT_EQ(ids(on_card), (std::vector<std::string>{"dilated/linear", "cudnn"}));
  }
}

// What becomes of dilated_mma on a ring of GPUs.
PlannedVariant ring_of(const Site& site, const std::string& parameters, const std::string& options,
                       const std::string& measure) {
  return plan_of("cases:\n  - {sequence_length: 4096, segments: [4096], dtype: bf16, device: cuda, " +
                     parameters + "}\nvariants: [{kernel: dilated_mma" + options + "}]\nmeasure: {" +
                     measure + "}\n",
                 site)
      .comparisons.at(0)
      .variants.at(0);
}

PlannedVariant on_gpus(int gpus, const std::string& parameters, const std::string& options = "",
                       const std::string& measure = "") {
  Site site = gpu_site(90);
  site.gpus = gpus;
  return ring_of(site, parameters, options, measure);
}

TEST(Plan, PutsARankOnEachGpu) {
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  if (const auto reason = find_implementation("dilated_mma", DeviceKind::cuda)->why_not(work, {}))
    GTEST_SKIP() << *reason;
  EXPECT_FALSE(on_gpus(4, "ring_size: 4").skip);
  EXPECT_EQ(on_gpus(4, "ring_size: 4").transport, "peer");
  expect_skipped(on_gpus(1, "ring_size: 2"), "ring_size 2: 1 GPU here, and measure.oversubscribe is false");
  expect_skipped(on_gpus(2, "ring_size: 4"), "ring_size 4: 2 GPUs here");
  EXPECT_FALSE(on_gpus(1, "ring_size: 4", "", "oversubscribe: true").skip);
  expect_skipped(on_gpus(4, "ring_size: 4", "", "cache: cold"), "cache must be warm");
  expect_skipped(on_gpus(4, "ring_size: 4", ", transport: threads"),
                 "transport threads: moves host memory, this case runs on GPUs");
  if (nccl_absence().empty()) {
    EXPECT_FALSE(on_gpus(4, "ring_size: 4", ", transport: nccl").skip);
    expect_skipped(on_gpus(2, "ring_size: 4", ", transport: nccl", "oversubscribe: true"),
                   "transport nccl: ring_size 4: it needs one GPU for each rank, and there are 2");
  }
}

TEST(Plan, ProcessesWithAGpuEachAreRanks) {
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  if (const auto reason = find_implementation("dilated_mma", DeviceKind::cuda)->why_not(work, {}))
    GTEST_SKIP() << *reason;
  const auto first = [](int ranks, const std::string& transport, const std::string& measure = "") {
    Site site = gpu_site(90);
    site.processes = 4;
    site.gpus = 3;
    site.no_further_gpu = "rank 3 of 4 has the GPU of rank 0";
    return ring_of(site, "ring_size: " + std::to_string(ranks), ", transport: " + transport, measure);
  };
  EXPECT_EQ(first(2, "auto").transport, "nccl");
  expect_skipped(first(2, "mpi"), "transport mpi: moves host memory, this case runs on GPUs");
  expect_skipped(first(2, "peer"), "transport peer: copies between GPUs of one process");
  if (!nccl_absence().empty()) {
    expect_skipped(first(2, "auto"), nccl_absence());
    return;
  }
  EXPECT_FALSE(first(3, "auto").skip);
  expect_skipped(first(4, "auto", "oversubscribe: true"),
                 "transport nccl: ring_size 4: rank 3 of 4 has the GPU of rank 0");
  expect_skipped(first(5, "auto"), "transport nccl: ring_size 5: the launcher started 4 processes");
  expect_skipped(first(2, "auto", "cache: cold"), "cache must be warm");
}

// Q, K, V, O of a rank, two buffers of a shard of K and V, O in fp32, LSE; of all ranks that share a GPU.
TEST(Plan, CountsTheMemoryOfTheGpuWithMost) {
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  if (const auto reason = find_implementation("dilated_mma", DeviceKind::cuda)->why_not(work, {}))
    GTEST_SKIP() << *reason;
  constexpr double kRank = 1024 * 8 * 64 * (2.0 * (4 + 2 * 2) + 4) + 1024 * 8 * 4;
  const double alone = *on_gpus(4, "ring_size: 4").memory_bytes;
  EXPECT_GT(alone, kRank);
  EXPECT_LT(alone, 1.2 * kRank);
  EXPECT_EQ(*on_gpus(2, "ring_size: 4", "", "oversubscribe: true").memory_bytes, 2 * alone);
}

TEST(Plan, SkipsWhatDoesNotFitOnTheGpuOrBesideIt) {
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  for (const char* kernel : {"dilated_mma", "dilated_wgmma"})
    if (const auto reason = find_implementation(kernel, DeviceKind::cuda)->why_not(work, {}))
      GTEST_SKIP() << *reason;
  // A build may be for the GPU of its machine alone.
  const auto mma = on_gpu("dilated_mma", "dtype: bf16", gpu_site(80));
  if (mma.skip && mma.skip->starts_with("this build has code for")) GTEST_SKIP() << *mma.skip;
  EXPECT_FALSE(mma.skip);
  expect_skipped(on_gpu("dilated_mma", "dtype: bf16", gpu_site(80, 1 << 20)),
                 "does not fit: the comparison would need 0.02 GiB of 0.00 GiB available");
  Site site = gpu_site(80);
  site.host.available_memory_bytes = 20 << 20;
  expect_skipped(on_gpu("dilated_mma", "dtype: bf16", site),
                 "does not fit: the comparison would need 0.04 GiB of 0.02 GiB host memory");
}

TEST(Plan, RecordsWhatSkipWhenLeavesOut) {
  const Plan plan = plan_of(std::string("cases:\n  - {sequence_length: 4096, segments: [2048]}\n"
                                        "  - {sequence_length: 8192, segments: [2048]}\n"
                                        "skip_when: sequence_length > 4096\n") +
                            kVariants);
  ASSERT_EQ(plan.comparisons.size(), 2u);
  EXPECT_TRUE(plan.comparisons[0].runnable());
  for (const PlannedVariant& planned : plan.comparisons[1].variants)
    expect_skipped(planned, "skip_when: sequence_length > 4096");
}

TEST(Plan, FindsTheReferenceThatTheSweepNames) {
  const std::string work = "cases:\n  - {sequence_length: 4096, segments: [2048]}\n";
  EXPECT_EQ(plan_of(work + kVariants).comparisons[0].reference, 0u);
  EXPECT_EQ(plan_of(work + kVariants + "reference: gemm\n").comparisons[0].reference, 2u);
}

TEST(Plan, CollapsesCasesThatNameOneDeviceTwice) {
  EXPECT_EQ(plan_of("axes: {sequence_length: 4096, segments: [[2048]], device: [auto, cpu]}\n" +
                    std::string(kVariants))
                .comparisons.size(),
            1u);
}

TEST(Plan, PrintsEveryVariantWithItsReasonAndTheTotals) {
  const std::string table =
      plan_table(plan_of("cases:\n  - {sequence_length: 4096, segments: [2048]}\n"
                         "  - {sequence_length: 4096, segments: [2048], dtype: fp16}\n" +
                         std::string(kVariants)));
  EXPECT_NE(table.find("n4096-w2048-r1-h8-d64-fp16-p1-cpu"), std::string::npos);
  EXPECT_NE(table.find("dilated_cpu stores fp32 or bf16, not fp16"), std::string::npos);
  EXPECT_NE(table.find("2 cases; 5 variants to measure, 3 skipped"), std::string::npos) << table;
}

TEST(Plan, FitsTheScreen) {
  const Plan plan = plan_of("cases:\n  - {sequence_length: 4096, segments: [2048], dtype: fp16}\n" +
                            std::string(kVariants));
  for (const std::size_t width : {60, 80, 100}) {
    std::istringstream table(plan_table(plan, {}, 0, {.width = width}));
    for (std::string line; std::getline(table, line);) EXPECT_LE(line.size(), width) << line;
    EXPECT_NE(table.str().find("skipped: dilated_cpu stores fp32 or bf16"), std::string::npos) << table.str();
    EXPECT_EQ(table.str().find("between") == std::string::npos, width <= 80) << table.str();
  }
}

TEST(Plan, PrintsTheReasonOfACaseOnceAndNoMemoryOfWhatIsSkipped) {
  Plan plan = plan_of("cases:\n  - {sequence_length: 4096, segments: [2048]}\n" + std::string(kVariants));
  std::vector<PlannedVariant>& variants = plan.comparisons.front().variants;
  for (PlannedVariant& planned : variants) planned.skip = "no device", planned.memory_bytes.reset();
  const std::string table = plan_table(plan);
  EXPECT_EQ(table.find("no device"), table.rfind("no device")) << table;
  EXPECT_NE(table.find("as above"), std::string::npos) << table;
  EXPECT_NE(table.find("32.12         -"), std::string::npos) << "min MiB, MiB: " << table;
  variants[1].skip = "another";
  const std::string mixed = plan_table(plan);
  EXPECT_LT(mixed.find("another"), mixed.rfind("no device")) << "said again after another: " << mixed;
}

}  // namespace
}  // namespace hilbench
