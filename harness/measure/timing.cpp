#include "harness/measure/timing.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/measure/random_values.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/nvtx.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kFewestRounds = 6;
constexpr double kBatchedBelowNs = 25e3;  // reading the clock takes up to a microsecond
constexpr double kRewarmBelowNs = 50e6;   // a longer execution fills the cache itself
constexpr std::int64_t kMostIterations = 10000;
constexpr std::size_t kCalibrations = 9;  // executions that tell how long injected work takes
constexpr double kFurtherWarmUp = 0.2;    // share of the device's warm-up, for all variants but the first

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Takes the manual time per iteration from a Google Benchmark run.
class SampleReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.iterations > 0) ns_ = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations);
  }
  std::optional<double> ns() const { return ns_; }

 private:
  std::optional<double> ns_;
};

// Takes the samples of one variant.
class VariantTimer {
 public:
  // Repeats executions for `warm_up_ns` first.
  VariantTimer(Device& device, const Measure& measure, const VerifiedVariant& variant, std::size_t number,
               double warm_up_ns)
      : device_(device),
        cache_(measure.cache),
        id_(variant.record.variant_id),
        prepared_(*variant.prepared),
        filter_(fmt::format("^v{}/", number)) {
    warm_up(warm_up_ns);
    inject(variant.record.injected);
    const double longest = std::max(estimate_ns_, 1.0);
    const auto wanted = static_cast<std::int64_t>(std::ceil(measure.shortest_sample_ns / longest));
    std::int64_t iterations =
        cache_ == CacheState::cold ? 1 : std::clamp<std::int64_t>(wanted, 1, kMostIterations);
    if (estimate_ns_ < kBatchedBelowNs && !prepared_.times_itself()) std::swap(iterations, batch_);
    benchmark::RegisterBenchmark(fmt::format("v{}", number).c_str(),
                                 [this](benchmark::State& state) { time(state); })
        ->Iterations(iterations)
        ->UseManualTime();
  }

  std::string_view timer() const { return device_.name_of(clock_); }

  double sample_ns() {
    const NvtxRange in_variant(id_), in_phase("time");
    if (rewarms() && !prepared_.times_itself()) prepared_.run();
    SampleReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter, filter_);
    if (!reporter.ns()) throw EnvironmentError({.what = "Google Benchmark gave no time", .where = id_});
    return *reporter.ns();
  }

 private:
  void warm_up(double warm_up_ns) {
    prepared_.run();
    double spent_ns = 0;
    do {
      estimate_ns_ = prepared_.times_itself() ? prepared_.run_timed(1).front() : device_.time_ns(run_);
      spent_ns += estimate_ns_;
    } while (spent_ns < warm_up_ns);
    if (!prepared_.times_itself()) clock_ = device_.clock_for(estimate_ns_);
  }

  // Adds work to each execution: this share of the time that it takes without.
  void inject(double share) {
    if (share == 0) return;
    if (prepared_.times_itself())
      throw EnvironmentError(
          {.what = "work cannot be injected into a variant that times itself", .where = id_});
    device_.work(1);  // the first call finds out how fast the device works
    std::vector<double> times(kCalibrations);
    for (double& each : times) each = device_.time_ns(run_, clock_, 1);
    injected_ns_ = share * median(times);
  }

  bool rewarms() const { return cache_ == CacheState::warm && estimate_ns_ < kRewarmBelowNs; }

  void time(benchmark::State& state) {
    if (prepared_.times_itself()) return take_own_times(state);
    for (auto _ : state) {
      if (cache_ == CacheState::cold) device_.evict_caches();
      state.SetIterationTime(device_.time_ns(run_, clock_, batch_) * 1e-9);
    }
  }

  void take_own_times(benchmark::State& state) {
    if (cache_ == CacheState::cold) device_.evict_caches();  // a cold cache has one iteration
    const std::int64_t untimed = rewarms() ? 1 : 0;
    const auto timed = static_cast<std::int64_t>(state.max_iterations);
    const std::vector<double> times_ns = prepared_.run_timed(untimed + timed);
    auto next = times_ns.begin() + untimed;
    for (auto _ : state) state.SetIterationTime(*next++ * 1e-9);
  }

  Device& device_;
  const CacheState cache_;
  const std::string& id_;
  PreparedVariant& prepared_;
  const std::function<void()> run_ = [this] {
    prepared_.run();
    if (injected_ns_ > 0) device_.work(injected_ns_);
  };
  const std::string filter_;
  double estimate_ns_ = 0;
  double injected_ns_ = 0;
  std::int64_t batch_ = 1;  // executions between two readings of the clock
  Clock clock_ = Clock::ordinary;
};

// The standard deviation that normal values with this median of absolute deviations have.
double robust_deviation(std::vector<double> values) {
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return 1.4826 * median(values);
}

// Rounds after which the medians of all variants have intervals of the wanted width, by the scatter of the
// samples so far.
std::int64_t rounds_wanted(const std::vector<VerifiedVariant>& variants,
                           const std::vector<TimedSamples>& samples, std::optional<std::size_t> reference,
                           const Measure& measure) {
  constexpr double kMedianWidth = 1.96 * 1.2533;  // half-width of 95 %, in deviations / sqrt(rounds)
  double wanted = 0;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (!variants[v].prepared->implementation().has_output || v == reference) continue;
    std::vector<double> logs(samples[v].ns.size());
    for (std::size_t i = 0; i < logs.size(); ++i)
      logs[i] = std::log(samples[v].ns[i]) - (reference ? std::log(samples[*reference].ns[i]) : 0);
    wanted = std::max(wanted, std::pow(kMedianWidth * robust_deviation(logs) / measure.interval, 2));
  }
  return static_cast<std::int64_t>(std::ceil(std::min(wanted, 1e9)));
}

}  // namespace

std::vector<TimedSamples> time_variants(Device& device, const std::vector<VerifiedVariant>& variants,
                                        std::optional<std::size_t> reference, const Measure& measure,
                                        const TimingProgress& progress, const Turn& turn) {
  benchmark::ClearRegisteredBenchmarks();
  turn.begin();
  std::vector<std::unique_ptr<VariantTimer>> timers;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    progress(variants[v].record.variant_id, 0, 0);
    // The first variant raises the clocks of the device, the others keep them up.
    const double warm_up_ns = device.warm_up_ns() * (v == 0 ? 1 : kFurtherWarmUp);
    timers.push_back(std::make_unique<VariantTimer>(device, measure, variants[v], v, warm_up_ns));
  }
  turn.end();
  std::vector<TimedSamples> samples(variants.size());
  for (std::size_t v = 0; v < variants.size(); ++v) samples[v].timer = timers[v]->timer();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::size_t> numbers = shuffled(variants.size(), measure.seed);
  std::int64_t rounds = measure.min_rounds;
  for (std::int64_t round = 0;; ++round) {
    if (round == measure.min_rounds)
      rounds = std::max(rounds, rounds_wanted(variants, samples, reference, measure));
    const bool enough = round >= rounds;
    const bool spent =
        round >= std::min(kFewestRounds, measure.min_rounds) && seconds_since(start) >= measure.budget_s;
    if (enough || spent) break;
    turn.begin();
    for (const std::size_t place : round_order(variants.size(), static_cast<std::size_t>(round))) {
      const std::size_t v = numbers[place];
      progress(variants[v].record.variant_id, round, seconds_since(start));
      samples[v].ns.push_back(timers[v]->sample_ns());
    }
    turn.end();
  }
  benchmark::ClearRegisteredBenchmarks();
  return samples;
}

}  // namespace hilbench
