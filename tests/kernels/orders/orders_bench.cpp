// Throughput of the orders, in points a second on one core: `orders_bench`.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/orders/curves.hpp"
#include "kernels/orders/hilbert.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kPoints = std::size_t{1} << 14;
constexpr std::int64_t kLength = std::int64_t{1} << 20;

void count_items(benchmark::State& state, std::int64_t items) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * items);
}

void encode(benchmark::State& state) {
  std::vector<std::uint16_t> x(kPoints), y(kPoints);
  std::vector<std::uint32_t> index(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    x[i] = static_cast<std::uint16_t>(i * 7919);
    y[i] = static_cast<std::uint16_t>(i * 104729);
  }
  for (auto _ : state) {
    hilbert_encode(x, y, 16, index);
    benchmark::DoNotOptimize(index.data());
    benchmark::ClobberMemory();
  }
  count_items(state, kPoints);
}
BENCHMARK(encode);

void decode(benchmark::State& state) {
  std::vector<std::uint16_t> x(kPoints), y(kPoints);
  std::vector<std::uint32_t> index(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) index[i] = static_cast<std::uint32_t>(i * 2654435761u);
  for (auto _ : state) {
    hilbert_decode(index, 16, x, y);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  count_items(state, kPoints);
}
BENCHMARK(decode);

void generalised(benchmark::State& state) {
  const std::int64_t width = state.range(0);
  const std::int64_t height = state.range(1);
  std::vector<std::uint32_t> cells(static_cast<std::size_t>(width * height));
  for (auto _ : state) {
    hilbert_curve(width, height, cells);
    benchmark::DoNotOptimize(cells.data());
    benchmark::ClobberMemory();
  }
  count_items(state, width * height);
}
BENCHMARK(generalised)->Args({1000, 1000})->Args({1023, 1023})->Args({1025, 1024})->Args({4000, 250});

void slots(benchmark::State& state, const std::string& name) {
  const OrderRequest request{.name = name, .length = kLength, .residue = 16};
  for (auto _ : state) benchmark::DoNotOptimize(order_slots(request).data());
  count_items(state, kLength);
}

}  // namespace
}  // namespace hilbench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const hilbench::OrderInfo& info : hilbench::orders())
    if (info.name != "file")
      benchmark::RegisterBenchmark(("slots/" + std::string(info.name)).c_str(), hilbench::slots,
                                   std::string(info.name));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
