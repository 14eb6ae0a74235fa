// What a plan says of rings.
#include <gtest/gtest.h>

#include "baselines/table.hpp"
#include "harness/plan/ring_reasons.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/transport/mpi.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "kernels/ring/transport/peer.hpp"
#include "tests/harness/plan/planning.hpp"

namespace hilbench {
namespace {

TEST(RingPlan, ProcessesOfALauncherAreRanks) {
  const auto first = [](const std::string& transport, int processes) {
    Site site = planning_site();
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
TEST(RingPlan, TellsTheBytesOfARing) {
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

PlannedVariant planned_ring(const std::string& parameters, const std::string& options,
                            const Site& site = planning_site()) {
  return planned("segments: [4096], ring_size: 4" + parameters, "kernel: dilated, " + options, site);
}

// Of 3 hops of a shard, 1 is between two groups; a ring of 4 ranks sends 6 shards over the two borders of its
// groups. Ulysses sends 3/4 of Q, K, V, O and LSE, and 2/3 of that leaves the group.
TEST(RingPlan, TellsTheBytesInsideGroupsAndBetweenThem) {
  constexpr double kShard = 2.0 * 1024 * 8 * 64 * 4;
  const auto expect = [](const PlannedVariant& planned, double inside, double between) {
    EXPECT_FALSE(planned.skip) << *planned.skip;
    EXPECT_EQ(planned.ring_groups, 2);
    EXPECT_EQ(planned.comm_bytes_inside, inside) << planned.variant_id;
    EXPECT_EQ(planned.comm_bytes_between, between) << planned.variant_id;
    EXPECT_EQ(planned.comm_bytes, inside + between) << planned.variant_id;
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

TEST(RingPlan, SaysWhichShardingAutoMeans) {
  const auto sharding = [](const std::string& parameters, const std::string& options) {
    return planned_ring(parameters, options).sharding;
  };
  EXPECT_EQ(sharding("", "ring_groups: 0"), Sharding::contiguous);
  EXPECT_EQ(sharding(", causal: true", "ring_groups: 0"), Sharding::zigzag);
  EXPECT_EQ(sharding(", causal: true", "sharding: contiguous"), Sharding::contiguous);
  EXPECT_EQ(sharding(", causal: true", "ring_algorithm: ulysses"), Sharding::contiguous);
  EXPECT_EQ(planned_ring(", causal: true", "ring_groups: 0").variant_id, "dilated/linear");
}

// Rank k of a ring has the k-th GPU from the chosen one on.
// Processes join over NCCL or MPI, which move only what is contiguous: a rank copies heads together first.
TEST(RingPlan, TheTransportOfTheSiteSaysWhatIsCopiedToBeSent) {
  Site site = planning_site();
  Case work{.sequence_length = 4096,
            .pattern = {{4096, 1}},
            .heads = 8,
            .kv_heads = 8,
            .ring_size = 4,
            .device = DeviceKind::cuda};
  Variant variant{KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::allgather}};
  variant.ring.launch = RingLaunch::persistent;
  EXPECT_EQ(on_site(work, variant, site).ring.transport, TransportKind::peer);
  const Ring alone(work, on_site(work, variant, site));
  EXPECT_FALSE(alone.sends_heads_whole());
  EXPECT_EQ(planned_ring("", "ring_algorithm: ulysses", site).head_moves, HeadMoves::direct);
  EXPECT_EQ(planned_ring("", "ring_algorithm: allgather", site).head_moves, HeadMoves::automatic);
  site.processes = 4;
  EXPECT_EQ(on_site(work, variant, site).ring.transport, TransportKind::nccl);
  const Ring launched(work, on_site(work, variant, site));
  EXPECT_TRUE(launched.sends_heads_whole());
  EXPECT_GT(launched.memory(0).buffers, alone.memory(0).buffers) << "its copy is in the plan";
  EXPECT_EQ(planned_ring("", "ring_algorithm: ulysses", site).head_moves, HeadMoves::regrouped);
  work.ring_size = 1;
  EXPECT_EQ(on_site(work, variant, site), variant) << "one rank sends nothing";
}

TEST(RingPlan, GpusWithoutALinkExchangeOverNccl) {
  Site site = planning_site();
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
  const std::string launch = "ring_launch: persistent, ring_groups: 2, outer_link: emulated_host";
  expect_skipped(planned_ring(", device: cuda, dtype: bf16", launch, site),
                 peer_absence().empty() ? "GPUs 2 and 4 cannot access each other's memory" : peer_absence());
  if (peer_absence().empty()) {
    EXPECT_FALSE(planned("segments: [1024], ring_size: 4, device: cuda, dtype: bf16",
                         "kernel: dilated, " + launch, site)
                     .skip)
        << "no segment crosses a shard: nothing is exchanged";
  }
  site.gpus = 3;
  EXPECT_EQ(transport("transport: auto"), "peer") << "NCCL wants a GPU for each rank";
}

TEST(RingPlan, OnlyThreadsAndPeerEmulateALink) {
  const std::string slow = ", ring_groups: 2, outer_link: emulated_host";
  EXPECT_FALSE(planned_ring("", "transport: threads" + slow).skip);
  Site site = planning_site();
  site.processes = 4;
  if (!mpi_absence().empty()) GTEST_SKIP() << mpi_absence();
  expect_skipped(planned_ring("", "transport: mpi" + slow, site), "threads and peer emulate outer_link");
}

TEST(RingPlan, SaysWhyARingHasNoGroupsOrCannotSplitItsHeads) {
  expect_skipped(planned_ring("", "ring_algorithm: hierarchical"),
                 "all are on one host: ring_groups must say");
  expect_skipped(planned_ring("", "ring_groups: 3"), "ring_groups 3: ring_size 4 is no multiple of it");
  expect_skipped(planned_ring(", heads: 8, kv_heads: 2", "ring_algorithm: ulysses"),
                 "of heads 8 and kv_heads 2, both must be multiples of ring_size 4");
  expect_skipped(planned_ring(", heads: 6, kv_heads: 1", "ring_algorithm: ulysses"),
                 "heads 6 and kv_heads 1");
}

// The ranks of a host are a group, if the hosts are equal and follow each other.
TEST(RingPlan, HostsOfProcessesAreGroups) {
  const auto planned = [](const std::vector<int>& hosts, const std::string& options = "ring_groups: 0") {
    Site site = planning_site();
    site.processes = static_cast<int>(hosts.size());
    site.hosts = hosts;
    return planned_ring("", "ring_algorithm: hierarchical, " + options, site);
  };
  if (!mpi_absence().empty()) GTEST_SKIP() << mpi_absence();
  EXPECT_EQ(planned({0, 0, 2, 2}).ring_groups, 2);
  EXPECT_FALSE(planned({0, 0, 2, 2}).skip);
  EXPECT_EQ(planned({0, 0, 2, 2}).variant_id, "dilated/linear/hierarchical");
  EXPECT_EQ(planned({0, 1, 2, 3}).ring_groups, 4);
  EXPECT_EQ(planned({0, 0, 2, 2, 4, 4}).ring_groups, 2) << "a ring of the first four";
  EXPECT_EQ(planned({0, 1, 2, 3}, "ring_groups: 2").ring_groups, 2) << "what the sweep names";
  EXPECT_EQ(planned({0, 1, 2, 3}, "transport: threads, ring_groups: 2").ring_groups, 2);
  expect_skipped(planned({0, 0, 0, 0}), "all are on one host");
  expect_skipped(planned({0, 1, 0, 1}), "as many ranks on each host, one host after another");
  expect_skipped(planned({0, 0, 0, 3}), "as many ranks on each host, one host after another");
  expect_skipped(planned({0, 1, 2, 3}, "transport: threads"), "all are on one host");
}

TEST(RingPlan, MeasuresTheRingsOfAVariantOnceOnOneRank) {
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
    EXPECT_FALSE(planned.skip) << planned.variant_id;
  const Plan named = plan("reference: dilated/linear.zigzag\n");
  expect_skipped(named.comparisons[0].variants[0], "the same as dilated/linear.zigzag");
  EXPECT_FALSE(named.comparisons[0].variants[2].skip) << "the reference";
}

TEST(RingPlan, SkipsRingsOfSteadySamples) {
  const Plan plan = plan_of(
      "axes: {sequence_length: 4096, segments: [4096], ring_size: [1, 2]}\n"
      "variants: [{kernel: dilated}]\nmeasure: {steady: true}\n");
  EXPECT_FALSE(plan.comparisons[0].variants[0].skip);
  expect_skipped(plan.comparisons[1].variants[0], "steady: the ranks of a ring wait for each other");
}

// LongNet sends packed rows all at once: for a causal case to the ranks that follow, for short segments
// nothing.
TEST(RingPlan, KnowsLongnetsSchemeAsARingOfItsOwn) {
  const auto planned = [](const std::string& parameters) {
    const Plan plan = plan_of("cases:\n  - {sequence_length: 4096, ring_size: 4, " + parameters +
                              "}\nvariants: [{kernel: dilated, sharding: contiguous, ring_algorithm: "
                              "allgather_packed}]\nbaselines: [longnet_allgather]\n");
    const auto& variants = plan.comparisons.at(0).variants;
    EXPECT_EQ(variants.at(1).variant_id, "longnet_allgather");
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

}  // namespace
}  // namespace hilbench
