// Throughput of dilated_cpu against the measured FMA peak: run by hand on an idle machine.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "baselines/gemm/gemm.hpp"
#include "baselines/peak/peak.hpp"
#include "kernels/base/files/float16.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu.hpp"

namespace hilbench {
namespace {

double peak_flops(int threads) {
  static std::map<int, double> peaks;
  if (!peaks.contains(threads)) peaks[threads] = measure_peak(threads, 1.0).fp32_fma_flops;
  return peaks[threads];
}

using Bytes = hwy::AlignedFreeUniquePtr<std::byte[]>;

Bytes random_tensor(const Case& work, std::uint64_t seed) {
  const std::int64_t count = work.batch * work.sequence_length * work.heads * work.head_dim;
  Bytes bytes = hwy::AllocateAligned<std::byte>(static_cast<std::size_t>(count * dtype_bytes(work.dtype)));
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < count; ++i) {
    if (work.dtype == Dtype::fp32)
      reinterpret_cast<float*>(bytes.get())[i] = normal(random);
    else
      reinterpret_cast<std::uint16_t*>(bytes.get())[i] = bf16_bits(normal(random));
  }
  return bytes;
}

void run_variant(benchmark::State& state, const Implementation& implementation, const Case& work,
                 const KernelChoice& choice) {
  const int threads = static_cast<int>(work.threads);
  const Bytes q = random_tensor(work, 1), k = random_tensor(work, 2), v = random_tensor(work, 3);
  const Bytes o = random_tensor(work, 4), d_o = random_tensor(work, 5);
  const Bytes d_q = random_tensor(work, 6), d_k = random_tensor(work, 7), d_v = random_tensor(work, 8);
  std::vector<float> lse(static_cast<std::size_t>(work.sequence_length * work.heads));
  const Index index = build_index(work, choice, implementation.tile_rows(work));
  const auto execution = implementation.prepare(work, choice, threads);
  execution->load(index);
  const Operands operands{.q = q.get(),
                          .k = k.get(),
                          .v = v.get(),
                          .o = o.get(),
                          .lse = lse.data(),
                          .d_o = d_o.get(),
                          .d_q = d_q.get(),
                          .d_k = d_k.get(),
                          .d_v = d_v.get()};
  if (work.pass == Pass::backward) {
    Case forward = work;
    forward.pass = Pass::forward;
    const Index forward_index = build_index(forward, choice, implementation.tile_rows(forward));
    implementation.prepare(forward, choice, threads)->run(operands, forward_index);
  }
  double best_s = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    execution->run(operands, index);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    best_s = std::min(best_s, seconds);
  }
  const double rate = flops(work) / best_s;
  state.counters["best_ms"] = best_s * 1e3;
  state.counters["best_GFLOPs"] = rate * 1e-9;
  state.counters["percent_of_peak"] = 100 * rate / peak_flops(threads);
}

void add(const Implementation& implementation, const Case& work, const KernelChoice& choice) {
  const std::string name =
      fmt::format("{}/{}/{}/threads:{}", implementation.name, choice.order, case_id(work), work.threads);
  benchmark::RegisterBenchmark(name.c_str(),
                               [&implementation, work, choice](benchmark::State& state) {
                                 run_variant(state, implementation, work, choice);
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

Case case_of(std::int64_t length, Branch branch, std::int64_t head_dim, std::int64_t threads) {
  return {.sequence_length = length,
          .pattern = {branch},
          .kv_heads = 8,
          .head_dim = head_dim,
          .device = DeviceKind::cpu,
          .threads = threads};
}

void add_all() {
  KernelChoice linear, random;
  linear.name = random.name = kDilatedCpu.name;
  random.order = "random";
  const KernelChoice rival;
  for (const std::int64_t threads : {1, 2}) {
    for (const std::int64_t length : {2048, 8192})
      for (const std::int64_t head_dim : {64, 128}) {
        const Case dense = case_of(length, {length, 1}, head_dim, threads);
        add(kDilatedCpu, dense, linear);
        add(kGemm, dense, rival);
      }
    for (const std::int64_t selected : {8, 64, 512, 1024, 4096})
      for (const std::int64_t dilation : {1, 2, 16}) {
        const Branch branch{selected * dilation, dilation};
        const Case dilated =
            case_of(std::max<std::int64_t>(8192, branch.segment_length), branch, 64, threads);
        add(kDilatedCpu, dilated, linear);
        add(kDilatedCpu, dilated, random);
        add(kGemm, dilated, rival);
      }
    Case narrow = case_of(2048, {2048, 1}, 128, threads);
    narrow.dtype = Dtype::bf16;
    add(kDilatedCpu, narrow, linear);
    Case causal = case_of(8192, {8192, 1}, 64, threads);
    causal.mask = Mask::causal;
    add(kDilatedCpu, causal, linear);
    for (Case backward : {case_of(2048, {2048, 1}, 64, threads), case_of(2048, {2048, 1}, 128, threads),
                          case_of(8192, {2048, 2}, 64, threads), causal, narrow})
      for (const double dropout : {0.0, 0.125})
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          backward.pass = pass, backward.dropout = dropout;
          add(kDilatedCpu, backward, linear);
        }
  }
}

}  // namespace
}  // namespace hilbench

int main(int argc, char** argv) {
  hilbench::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
