#include <gtest/gtest.h>

#include "baselines/table.hpp"
#include "harness/plan/plan_tables.hpp"
#include "kernels/ring/transport/mpi.hpp"
#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {
namespace {

Site test_site() {
  Site site;
  site.host.cores = 4;
  site.host.available_memory_bytes = std::int64_t{1} << 30;
  site.host.nominal_ghz = 2;
  return site;
}

Plan plan_of(const std::string& keys, const Site& site = test_site()) {
  return make_plan(parse_sweep("name: plan\n" + keys, "plan.yaml"), site);
}

constexpr const char* kVariants =
    "variants: [{kernel: dilated, order: [linear, hilbert]}]\nbaselines: [gemm, peak]\n";

// The only comparison of a sweep with one point of `parameters`.
Comparison comparison_of(const std::string& parameters, const Site& site = test_site()) {
  const Plan plan = plan_of("cases:\n  - {" + parameters + "}\n" + kVariants, site);
  EXPECT_EQ(plan.comparisons.size(), 1u);
  return plan.comparisons.at(0);
}

void expect_skipped(const PlannedVariant& planned, const std::string& reason) {
  ASSERT_TRUE(planned.skip) << planned.id;
  EXPECT_NE(planned.skip->find(reason), std::string::npos) << planned.id << ": " << *planned.skip;
}

TEST(Plan, ResolvesDeviceThreadsAndVariants) {
  const Comparison comparison = comparison_of("sequence_length: 4096, segments: [2048], threads: 3");
  EXPECT_EQ(comparison.work.device, DeviceKind::cpu);
  EXPECT_EQ(comparison.case_id, "n4096-w2048-r1-h8-d64-fp32-p1-cpu-threads.3");
  EXPECT_EQ(comparison.threads, 3);
  ASSERT_EQ(comparison.variants.size(), 5u);
  EXPECT_EQ(comparison.variants[1].id, "dilated/hilbert");
  EXPECT_EQ(comparison.variants[1].implementation->name, "dilated_cpu");
  EXPECT_TRUE(comparison.runnable());
  const PlannedVariant& twin = comparison.variants.back();
  EXPECT_TRUE(twin.twin);
  EXPECT_EQ(twin.id, "dilated/linear@twin");
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
  Site site = test_site();
  const std::string work = "sequence_length: 8192, segments: [2048]";
  const Comparison roomy = comparison_of(work, site);
  for (const PlannedVariant& planned : roomy.variants) EXPECT_FALSE(planned.skip) << planned.id;
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
    Site site = test_site();
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
  ASSERT_EQ(roomy.at(2).id, "two");
  const double tensor = 8.0 * 64 * 65536 * 4, files = 3 * tensor;
  EXPECT_EQ(*roomy[2].memory_bytes, *roomy[1].memory_bytes) << "each is counted as if it were alone";
  const double all = *roomy[0].memory_bytes + roomy[1].own.device + roomy[2].own.device - files;
  EXPECT_FALSE(variants(all + 1e5)[2].skip);
  expect_skipped(variants(all - 1e5)[2], "does not fit: the comparison would need");
  EXPECT_FALSE(variants(all - 1e5)[1].skip);
}

TEST(Plan, FitsEverythingWhereMemoryIsUnknown) {
  Site site = test_site();
  site.host.available_memory_bytes = 0;
  EXPECT_TRUE(comparison_of("sequence_length: 4096, segments: [2048]", site).runnable());
}

TEST(Plan, SkipsWhatKernelsCannotDoWithTheReason) {
  const auto first = [](const std::string& parameters) {
    return comparison_of("sequence_length: 4096, segments: [2048], " + parameters).variants.at(0);
  };
  expect_skipped(first("dtype: fp16"), "fp16");
  expect_skipped(first("head_dim: 512"), "head_dim 16 to 256, not 512");
  expect_skipped(first("pass: backward"), "backward");
  EXPECT_FALSE(first("ring_size: 2").skip);
  expect_skipped(first("ring_size: 2, dtype: fp16"), "dilated_cpu stores fp32 or bf16, not fp16");
  expect_skipped(first("ring_size: 300"), "at most 256 ranks");
  expect_skipped(first("device: cuda"), "no GPU was looked for");
}

// A site whose system gives huge pages to memory that asks for them, with a GPU.
Site site_with_huge_pages() {
  Site site = test_site();
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
  expect_all(comparison_of(work + "default", test_site()), "");
  expect_all(comparison_of(work + "4k", test_site()), "");
  expect_all(comparison_of(work + "2m", test_site()), "pages 2m: this kernel has no transparent huge pages");
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

TEST(Plan, ProcessesOfALauncherAreRanks) {
  const auto first = [](const std::string& transport, int processes) {
    Site site = test_site();
    site.processes = processes;
    return plan_of(
               "cases:\n  - {sequence_length: 4096, segments: [4096], ring_size: 4}\n"
               "variants: [{kernel: dilated, transport: " +
                   transport + "}]\n",
               site)
        .comparisons.at(0)
        .variants.at(0);
  };
  EXPECT_EQ(first("auto", 1).transport, "threads");
  EXPECT_FALSE(first("auto", 1).skip);
  EXPECT_EQ(first("threads", 8).transport, "threads");
  EXPECT_FALSE(first("threads", 8).skip);
  EXPECT_EQ(first("auto", 8).transport, "mpi");
  expect_skipped(first("nccl", 8), "transport nccl: moves memory of GPUs, this case runs on the CPU");
  if (!mpi_absence().empty()) {
    expect_skipped(first("mpi", 8), mpi_absence());
    return;
  }
  EXPECT_FALSE(first("auto", 4).skip);
  expect_skipped(first("auto", 3), "transport mpi: ring_size 4: the launcher started 3 processes");
  expect_skipped(first("mpi", 1), "start them with mpirun -n 4 hilbench run");
}

// 4 ranks, 4096 positions of 8 heads of 64 fp32: each of 3 hops moves every shard's K and V once.
TEST(Plan, TellsTheBytesOfARing) {
  const auto bytes = [](const std::string& options) {
    const Plan plan = plan_of(
        "cases:\n  - {sequence_length: 4096, segments: [4096], dilations: [4], ring_size: 4}\n"
        "variants: [{kernel: dilated, " +
        options + "}]\n");
    return plan.comparisons.at(0).variants.at(0).comm_bytes;
  };
  constexpr double kKeysAndValues = 2.0 * 4096 * 8 * 64 * 4;
  EXPECT_EQ(bytes("ring_algorithm: ring"), 3 * kKeysAndValues);
  EXPECT_EQ(bytes("ring_algorithm: allgather"), 3 * kKeysAndValues);
  EXPECT_EQ(bytes("ring_algorithm: ring_packed"), 3 * kKeysAndValues / 4);
  EXPECT_EQ(bytes("sharding: striped"), 0) << "each stream lies on one rank";
  EXPECT_EQ(bytes("ring_algorithm: ring_packed, order_span: global"), std::nullopt);
}

// The only variant of the only case.
PlannedVariant planned(const std::string& parameters, const std::string& variant, const Site& site) {
  return plan_of("cases:\n  - {sequence_length: 4096, " + parameters + "}\nvariants: [{" + variant + "}]\n",
                 site)
      .comparisons.at(0)
      .variants.at(0);
}

PlannedVariant planned_ring(const std::string& parameters, const std::string& options,
                            const Site& site = test_site()) {
  return planned("segments: [4096], ring_size: 4" + parameters, "kernel: dilated, " + options, site);
}

// Of 3 hops of a shard, 1 is between two groups; a ring of 4 ranks sends 6 shards over the two borders of its
// groups. Ulysses sends 3/4 of Q, K, V, O and LSE, and 2/3 of that leaves the group.
TEST(Plan, TellsTheBytesInsideGroupsAndBetweenThem) {
  constexpr double kShard = 2.0 * 1024 * 8 * 64 * 4;
  const auto expect = [](const PlannedVariant& planned, double inside, double between) {
    EXPECT_FALSE(planned.skip) << *planned.skip;
    EXPECT_EQ(planned.ring_groups, 2);
    EXPECT_EQ(planned.comm_bytes_inside, inside) << planned.id;
    EXPECT_EQ(planned.comm_bytes_between, between) << planned.id;
    EXPECT_EQ(planned.comm_bytes, inside + between) << planned.id;
  };
  expect(planned_ring("", "ring_algorithm: hierarchical, ring_groups: 2"), 8 * kShard, 4 * kShard);
  expect(planned_ring("", "ring_groups: 2"), 6 * kShard, 6 * kShard);
  expect(planned_ring("", "ring_algorithm: allgather, ring_groups: 2"), 4 * kShard, 8 * kShard);
  const double heads = 3 * 2 * kShard + 3.0 * 1024 * 8 * 4;
  expect(planned_ring("", "ring_algorithm: ulysses, ring_groups: 2"), heads / 3, heads * 2 / 3);
  const PlannedVariant plain = planned_ring("", "ring_algorithm: ulysses");
  EXPECT_EQ(plain.comm_bytes, heads);
  EXPECT_EQ(plain.ring_groups, 0);
  EXPECT_EQ(plain.comm_bytes_inside, std::nullopt);
  EXPECT_EQ(plain.comm_bytes_between, std::nullopt);
}

TEST(Plan, SaysWhichShardingAutoMeans) {
  const auto sharding = [](const std::string& parameters, const std::string& options) {
    return planned_ring(parameters, options).sharding;
  };
  EXPECT_EQ(sharding("", "ring_groups: 0"), Sharding::contiguous);
  EXPECT_EQ(sharding(", causal: true", "ring_groups: 0"), Sharding::zigzag);
  EXPECT_EQ(sharding(", causal: true", "sharding: contiguous"), Sharding::contiguous);
  EXPECT_EQ(sharding(", causal: true", "ring_algorithm: ulysses"), Sharding::contiguous);
  EXPECT_EQ(planned_ring(", causal: true", "ring_groups: 0").id, "dilated/linear");
}

// Rank k of a ring has the k-th GPU from the chosen one on.
TEST(Plan, GpusWithoutALinkExchangeOverNccl) {
  Site site = test_site();
  site.gpu = Gpu{.ordinal = 1, .name = "a GPU", .compute_capability = 90, .multiprocessors = 132};
  site.gpu->memory_bytes = std::int64_t{80} << 30;
  site.gpus = 8;
  const auto transport = [&](const std::string& options) {
    return planned_ring(", device: cuda, dtype: bf16", options, site).transport;
  };
  EXPECT_EQ(transport("transport: auto"), "peer");
  site.unlinked = {{0, 1}, {2, 7}};
  EXPECT_EQ(transport("transport: auto"), "peer") << "the ring is of GPUs 1 to 4";
  site.unlinked = {{2, 4}};
  const std::string fallback = nccl_absence().empty() ? "nccl" : "peer";
  EXPECT_EQ(transport("transport: auto"), fallback);
  EXPECT_EQ(transport("transport: peer"), fallback);
  EXPECT_EQ(transport("transport: peer, ring_groups: 2, outer_link: emulated_host"), "peer")
      << "the host is what it asks for";
  site.gpus = 3;
  EXPECT_EQ(transport("transport: auto"), "peer") << "NCCL wants a GPU for each rank";
}

TEST(Plan, OnlyThreadsAndPeerEmulateALink) {
  const std::string slow = ", ring_groups: 2, outer_link: emulated_host";
  EXPECT_FALSE(planned_ring("", "transport: threads" + slow).skip);
  Site site = test_site();
  site.processes = 4;
  if (!mpi_absence().empty()) GTEST_SKIP() << mpi_absence();
  expect_skipped(planned_ring("", "transport: mpi" + slow, site), "threads and peer emulate outer_link");
}

TEST(Plan, SaysWhyARingHasNoGroupsOrCannotSplitItsHeads) {
  expect_skipped(planned_ring("", "ring_algorithm: hierarchical"),
                 "all are on one host: ring_groups must say");
  expect_skipped(planned_ring("", "ring_groups: 3"), "ring_groups 3: ring_size 4 is no multiple of it");
  expect_skipped(planned_ring(", heads: 8, kv_heads: 2", "ring_algorithm: ulysses"),
                 "of heads 8 and kv_heads 2, both must be multiples of ring_size 4");
  expect_skipped(planned_ring(", heads: 6, kv_heads: 1", "ring_algorithm: ulysses"),
                 "heads 6 and kv_heads 1");
}

// The ranks of a host are a group, if the hosts are equal and follow each other.
TEST(Plan, HostsOfProcessesAreGroups) {
  const auto planned = [](const std::vector<int>& hosts, const std::string& options = "ring_groups: 0") {
    Site site = test_site();
    site.processes = static_cast<int>(hosts.size());
    site.hosts = hosts;
    return planned_ring("", "ring_algorithm: hierarchical, " + options, site);
  };
  if (!mpi_absence().empty()) GTEST_SKIP() << mpi_absence();
  EXPECT_EQ(planned({0, 0, 2, 2}).ring_groups, 2);
  EXPECT_FALSE(planned({0, 0, 2, 2}).skip);
  EXPECT_EQ(planned({0, 0, 2, 2}).id, "dilated/linear/hierarchical");
  EXPECT_EQ(planned({0, 1, 2, 3}).ring_groups, 4);
  EXPECT_EQ(planned({0, 0, 2, 2, 4, 4}).ring_groups, 2) << "a ring of the first four";
  EXPECT_EQ(planned({0, 1, 2, 3}, "ring_groups: 2").ring_groups, 2) << "what the sweep names";
  EXPECT_EQ(planned({0, 1, 2, 3}, "transport: threads, ring_groups: 2").ring_groups, 2);
  expect_skipped(planned({0, 0, 0, 0}), "all are on one host");
  expect_skipped(planned({0, 1, 0, 1}), "as many ranks on each host, one host after another");
  expect_skipped(planned({0, 0, 0, 3}), "as many ranks on each host, one host after another");
  expect_skipped(planned({0, 1, 2, 3}, "transport: threads"), "all are on one host");
}

TEST(Plan, MeasuresTheRingsOfAVariantOnceOnOneRank) {
  const std::string variants =
      "variants: [{kernel: dilated, ring_algorithm: [auto, allgather]}, {kernel: dilated, sharding: "
      "zigzag},\n"
      "  {kernel: dilated, order: hilbert, ring_algorithm: ring_packed}]\n";
  const auto plan = [&](const std::string& more) {
    return plan_of("axes: {sequence_length: 4096, segments: [4096], ring_size: [1, 2]}\n" + variants + more);
  };
  const Plan first = plan("");
  ASSERT_EQ(first.comparisons.size(), 2u);
  const std::vector<PlannedVariant>& alone = first.comparisons[0].variants;
  EXPECT_FALSE(alone[0].skip);
  expect_skipped(alone[1], "ring_size 1: the same as dilated/linear");
  expect_skipped(alone[2], "ring_size 1: the same as dilated/linear");
  EXPECT_FALSE(alone[3].skip) << "no other variant in that order";
  for (const PlannedVariant& planned : first.comparisons[1].variants)
    EXPECT_FALSE(planned.skip) << planned.id;
  const Plan named = plan("reference: dilated/linear.zigzag\n");
  expect_skipped(named.comparisons[0].variants[0], "the same as dilated/linear.zigzag");
  EXPECT_FALSE(named.comparisons[0].variants[2].skip) << "the reference";
}

TEST(Plan, SkipsRingsOfSteadySamples) {
  const Plan plan = plan_of(
      "axes: {sequence_length: 4096, segments: [4096], ring_size: [1, 2]}\n"
      "variants: [{kernel: dilated}]\nmeasure: {steady: true}\n");
  EXPECT_FALSE(plan.comparisons[0].variants[0].skip);
  expect_skipped(plan.comparisons[1].variants[0], "steady: the ranks of a ring wait for each other");
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

// LongNet sends packed rows all at once: for a causal case to the ranks that follow, for short segments
// nothing.
TEST(Plan, KnowsLongnetsSchemeAsARingOfItsOwn) {
  const auto planned = [](const std::string& parameters) {
    const Plan plan = plan_of("cases:\n  - {sequence_length: 4096, ring_size: 4, " + parameters +
                              "}\nvariants: [{kernel: dilated, sharding: contiguous, ring_algorithm: "
                              "allgather_packed}]\nbaselines: [longnet_allgather]\n");
    const auto& variants = plan.comparisons.at(0).variants;
    EXPECT_EQ(variants.at(1).id, "longnet_allgather");
    EXPECT_EQ(variants.at(1).comm_bytes, variants.at(0).comm_bytes);
    EXPECT_EQ(variants.at(1).ring_algorithm, variants.at(0).ring_algorithm);
    EXPECT_EQ(variants.at(1).memory_bytes, variants.at(0).memory_bytes);
    return variants.at(1);
  };
  const double keys_and_values = 2.0 * 4096 * 8 * 64 * 4;
  EXPECT_EQ(planned("segments: [4096], dilations: [4]").comm_bytes, 3 * keys_and_values / 4);
  EXPECT_EQ(planned("segments: [4096], dilations: [4], causal: true").comm_bytes, 1.5 * keys_and_values / 4);
  EXPECT_EQ(planned("segments: [1024], dilations: [4]").comm_bytes, 0);
  EXPECT_EQ(planned("segments: [4096], dilations: [4]").implementation->name, "dilated_cpu");
  expect_skipped(planned("segments: [4096], dtype: fp16"), "dilated_cpu stores fp32 or bf16, not fp16");
  const PlannedVariant alone =
      plan_of("cases:\n  - {sequence_length: 4096, segments: [4096]}\nbaselines: [longnet_allgather, gemm]\n")
          .comparisons.at(0)
          .variants.at(0);
  expect_skipped(alone, "longnet_allgather gathers from the ranks of a ring: ring_size must be above 1");
}

// A host with a GPU of this compute capability and so much memory.
Site gpu_site(int capability, std::int64_t memory_bytes = std::int64_t{1} << 34) {
  Site site = test_site();
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
  EXPECT_FALSE(on_gpu("dilated_mma", "dtype: bf16", gpu_site(80)).skip);
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
  EXPECT_FALSE(on_gpu("dilated_mma", "dtype: bf16", gpu_site(80)).skip);
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

}  // namespace
}  // namespace hilbench
