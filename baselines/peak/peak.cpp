#include "baselines/peak/peak.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "baselines/peak/bf16_peak.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/host_memory.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "baselines/peak/peak.cpp"
// foreach_target.h compiles this file once for each target. It must be included before the other headers.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::size_t lanes() {
  return hn::Lanes(hn::ScalableTag<float>());
}

// `iterations` times 12 independent vector FMAs: enough to exceed latency x issue rate of every current core,
// and few enough for 16 registers. Returning their sum keeps the compiler from removing them.
float multiply_add(std::int64_t iterations, float factor, float addend) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, factor), b = hn::Set(d, addend);
  auto x0 = hn::Iota(d, 0.0f), x1 = hn::Iota(d, 1.0f), x2 = hn::Iota(d, 2.0f), x3 = hn::Iota(d, 3.0f);
  auto x4 = hn::Iota(d, 4.0f), x5 = hn::Iota(d, 5.0f), x6 = hn::Iota(d, 6.0f), x7 = hn::Iota(d, 7.0f);
  auto x8 = hn::Iota(d, 8.0f), x9 = hn::Iota(d, 9.0f), x10 = hn::Iota(d, 10.0f), x11 = hn::Iota(d, 11.0f);
  for (std::int64_t i = 0; i < iterations; ++i) {
    x0 = hn::MulAdd(x0, a, b), x1 = hn::MulAdd(x1, a, b), x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b), x4 = hn::MulAdd(x4, a, b), x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b), x7 = hn::MulAdd(x7, a, b), x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b), x10 = hn::MulAdd(x10, a, b), x11 = hn::MulAdd(x11, a, b);
  }
  const auto low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  const auto high = hn::Add(hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)), hn::Add(x10, x11));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

// `count` is a multiple of 64 elements; both arrays are 64-byte aligned.
void stream_copy(const float* from, float* to, std::int64_t count) {
  const hn::CappedTag<float, 16> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += step) hn::Stream(hn::Load(d, from + i), d, to + i);
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {
HWY_EXPORT(lanes);
HWY_EXPORT(multiply_add);
HWY_EXPORT(stream_copy);

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kFmasOfPart = 9'375'000;  // 0.1 to 0.3 ms on a current core
// Parts of a run for each thread. A free thread takes the next part, so a core that runs slower for a while,
// as cores of a virtual machine do, does not make the others wait.
constexpr int kPartsPerThread = 16;
constexpr std::int64_t kUnroll = 12;

std::int64_t iterations_of_part() {
  return kFmasOfPart / (kUnroll * static_cast<std::int64_t>(HWY_DYNAMIC_DISPATCH(lanes)()));
}

// The products that limit a case in `dtype`.
Bf16Products products_of(const Case& work) {
  return work.dtype == Dtype::bf16 ? chosen_bf16_products().products : Bf16Products::widened;
}

double flops_of_run(Bf16Products products, int threads) {
  const auto lane_count = static_cast<std::int64_t>(HWY_DYNAMIC_DISPATCH(lanes)());
  return kPartsPerThread * threads *
         (products == Bf16Products::widened
              ? 2.0 * static_cast<double>(iterations_of_part() * kUnroll * lane_count)
              : flops_of_bf16_products(products));
}

// Runs the FMAs or bf16 products of all threads and returns the sum of the results.
float run_products(Bf16Products products, int threads) {
  float sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : sum)
  for (int part = 0; part < kPartsPerThread * threads; ++part)
    sum += products == Bf16Products::widened
               ? HWY_DYNAMIC_DISPATCH(multiply_add)(iterations_of_part(), 0.999f, 0.5f)
               : run_bf16_products(products);
  return sum;
}

template <class Run>
double best_seconds(double budget_s, Run run) {
  double best_s = std::numeric_limits<double>::infinity();
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    run();
    best_s = std::min(best_s, std::chrono::duration<double>(Clock::now() - start).count());
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < budget_s);
  return best_s;
}

// Elements of one array. Its bytes are four times those of the last-level caches, at most an eighth of
// the free memory.
std::int64_t copy_elements() {
  const Host host = inspect_host();
  std::int64_t cache_bytes = 32 << 20;  // if the system does not report it
  if (!host.data_caches.empty()) {
    const CacheLevel& last = host.data_caches.back();
    cache_bytes = last.bytes * std::max(1, host.cores / std::max(1, last.shared_by));
  }
  const std::int64_t free_bytes = host.available_memory_bytes > 0 ? host.available_memory_bytes : 1 << 30;
  return std::min(4 * cache_bytes, free_bytes / 8) / 4;
}

double copy_rate(int threads, double budget_s, PageSize pages) {
  constexpr std::int64_t kLine = 64;
  const std::int64_t chunk = copy_elements() / threads / kLine * kLine;
  if (chunk == 0) return 0;
  std::shared_ptr<float[]> from, to;
  try {
    from = allocate_floats(chunk * threads, pages);
    to = allocate_floats(chunk * threads, pages);
  } catch (const std::bad_alloc&) {
    return 0;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    std::fill_n(from.get() + t * chunk, chunk, 1.0f);
    std::fill_n(to.get() + t * chunk, chunk, 0.0f);
  }
  const double seconds = best_seconds(budget_s, [&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; ++t)
      HWY_DYNAMIC_DISPATCH(stream_copy)(from.get() + t * chunk, to.get() + t * chunk, chunk);
  });
  return 8.0 * static_cast<double>(chunk * threads) / seconds;
}

class PeakExecution : public Execution {
 public:
  PeakExecution(const Case& work, int threads)
      : products_(products_of(work)), threads_(threads), pages_(work.pages) {}
  void run(const Operands&, const Index&) override { sum_ = run_products(products_, threads_); }
  std::map<std::string, Counter> measured() override {
    constexpr double kSeconds = 0.4;
    const double rate = copy_rate(threads_, kSeconds, pages_);
    if (rate <= 0) return {{"copy_bandwidth", {.reason = "no memory for the arrays"}}};
    return {{"copy_bandwidth", {.value = rate, .unit = "B/s", .source = "measured", .passes = 1}}};
  }

 private:
  Bf16Products products_;
  int threads_;
  PageSize pages_;
  volatile float sum_ = 0;  // written, so that the compiler cannot remove the work
};

double measure_flops(Bf16Products products, int threads, double seconds) {
  volatile float sum = run_products(products, threads);  // starts the threads and raises the clock
  return flops_of_run(products, threads) /
         best_seconds(seconds, [&] { sum = run_products(products, threads); });
}

}  // namespace

Peak measure_peak(int threads, double seconds) {
  constexpr double kCopyFromSeconds = 0.1;
  Peak peak;
  peak.fp32_fma_flops = measure_flops(Bf16Products::widened, threads, seconds / 2);
  if (seconds >= kCopyFromSeconds)
    peak.copy_bytes_per_s = copy_rate(threads, seconds / 4, PageSize::standard);
  return peak;
}

double measure_bf16_flops(Bf16Products products, int threads, double seconds) {
  return measure_flops(products, threads, seconds);
}

const Implementation kPeak = {
    .name = "peak",
    .help = "measured peak of the threads in use, fp32 FMAs or bf16 products: the roof, not attention",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cpu,
    .has_output = false,
    .peak_unit = [](const Case& work) { return unit_of(products_of(work)); },
    .why_not = [](const Case& work, const Variant&) -> std::optional<std::string> {
      return work.dtype == Dtype::bf16 ? chosen_bf16_products().against : std::nullopt;
    },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
    .own_flops = [](const Case& work, int threads) { return flops_of_run(products_of(work), threads); },
    .prepare = [](const Case& work, const KernelChoice&, int threads) -> std::unique_ptr<Execution> {
      return std::make_unique<PeakExecution>(work, threads);
    },
    .library =
        [] {
          return nlohmann::json{{"bf16_products", name_of(chosen_bf16_products().products)}};
        },
};

}  // namespace hilbench
#endif  // HWY_ONCE
