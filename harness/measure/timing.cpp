#include "harness/measure/timing.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "harness/measure/random_values.hpp"
#include "harness/measure/rounds.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr double kBatchedBelowNs = 25e3;  // reading the clock takes up to a microsecond
constexpr double kRewarmBelowNs = 50e6;   // a longer execution fills the cache itself
constexpr std::int64_t kMostIterations = 10000;
constexpr std::size_t kCalibrations = 9;  // executions that tell how long injected work takes
constexpr double kFurtherWarmUp = 0.2;    // share of the device's warm-up, for all variants but the first
constexpr double kLongestWarmUp = 10;     // by the clock on the wall, as a multiple of what is wanted
constexpr std::int64_t kEstimates = 3;    // requests whose mean tells how long an execution of a program is
constexpr double kTrial = 0.1;            // share of a steady sample that is tried before it
constexpr double kSurplus = 1.05;         // of executions in a steady sample, which must not be too short
// Times in the answer of an external program, a line of at most 16 MiB.
constexpr std::int64_t kMostOwnTimes = 600'000;

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
        steady_ns_(measure.steady ? measure.steady_s * 1e9 : 0),
        filter_(fmt::format("^v{}/", number)) {
    warm_up(warm_up_ns, measure.shortest_sample_ns);
    inject(variant.record.injected);
    const double longest = std::max(estimate_ns_, 1.0);
    const auto wanted = static_cast<std::int64_t>(std::ceil(measure.shortest_sample_ns / longest));
    const bool one = cache_ == CacheState::cold || steady();
    std::int64_t iterations = one ? 1 : std::clamp<std::int64_t>(wanted, 1, kMostIterations);
    if (estimate_ns_ < kBatchedBelowNs && !times_itself()) std::swap(iterations, batch_);
    benchmark::RegisterBenchmark(fmt::format("v{}", number).c_str(),
                                 [this](benchmark::State& state) { time(state); })
        ->Iterations(iterations)
        ->UseManualTime();
  }

  std::string_view timer() const { return device_.name_of(clock_); }
  std::optional<Energy> energy() const { return steady() ? std::optional(energy_) : std::nullopt; }

  // In nanoseconds: of one execution, and the first one if the variant times itself.
  struct Sample {
    double ns = 0;
    std::optional<double> first_ns;
  };
  Sample sample() {
    first_ns_.reset();
    const double ns = sample_ns();
    return {ns, first_ns_};
  }
  // A window of seconds is too long for a round whose times are not used: one execution stands for it.
  Sample poisoned_sample() { return steady() ? Sample{mean_ns(1), std::nullopt} : sample(); }

 private:
  double sample_ns() {
    const NvtxRange in_variant(id_), in_phase("time");
    if (rewarms() && !times_itself() && !steady()) prepared_.run();
    SampleReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter, filter_);
    if (!reporter.ns()) throw EnvironmentError({.what = "Google Benchmark gave no time", .where = id_});
    return *reporter.ns();
  }

  void warm_up(double warm_up_ns, double shortest_sample_ns) {
    prepared_.run();
    // What times itself may say too little. The device is then warm all the same.
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::nanoseconds(std::llround(kLongestWarmUp * warm_up_ns));
    double spent_ns = 0;
    std::int64_t count = 0;
    do {
      estimate_ns_ = times_itself() ? prepared_.traits().run_timed(1).front() : device_.time_ns(run_);
      spent_ns += estimate_ns_;
      ++count;
    } while (spent_ns < warm_up_ns && std::chrono::steady_clock::now() < end);
    // Of a program that computes only now and then, one time could promise far too much.
    for (; times_itself() && count < kEstimates && spent_ns < shortest_sample_ns; ++count)
      spent_ns += prepared_.traits().run_timed(1).front();
    if (times_itself()) estimate_ns_ = spent_ns / static_cast<double>(count);
    if (!times_itself() && !steady()) clock_ = device_.clock_for(estimate_ns_);
  }

  // Adds work to each execution: this share of the time that it takes without.
  void inject(double share) {
    if (share == 0) return;
    if (times_itself())
      throw EnvironmentError(
          {.what = "work cannot be injected into a variant that times itself", .where = id_});
    device_.work(1);  // the first call finds out how fast the device works
    std::vector<double> times(kCalibrations);
    for (double& each : times) each = device_.time_ns(run_, clock_, 1);
    injected_ns_ = share * median(times);
  }

  bool rewarms() const { return cache_ == CacheState::warm && estimate_ns_ < kRewarmBelowNs; }

  bool steady() const { return steady_ns_ > 0; }

  void time(benchmark::State& state) {
    if (steady()) {
      for (auto _ : state) state.SetIterationTime(steady_sample_ns() * 1e-9);
      return;
    }
    if (times_itself()) return take_own_times(state);
    for (auto _ : state) {
      if (cache_ == CacheState::cold) device_.evict_caches();
      state.SetIterationTime(device_.time_ns(run_, clock_, batch_) * 1e-9);
    }
  }

  void take_own_times(benchmark::State& state) {
    if (cache_ == CacheState::cold) device_.evict_caches();  // a cold cache has one iteration
    const std::int64_t untimed = rewarms() ? 1 : 0;
    const auto timed = static_cast<std::int64_t>(state.max_iterations);
    const std::vector<double> times_ns = prepared_.traits().run_timed(untimed + timed);
    first_ns_ = times_ns.front();
    auto next = times_ns.begin() + untimed;
    for (auto _ : state) state.SetIterationTime(*next++ * 1e-9);
  }

  // Fills one window. The trial before it brings clocks and power to where this variant holds them.
  double steady_sample_ns() {
    double each_ns = mean_ns(executions_in(kTrial * steady_ns_, estimate_ns_));
    for (double surplus = kSurplus;; surplus *= 1.5) {
      const std::int64_t executions = executions_in(surplus * steady_ns_, each_ns);
      const EnergyReading before = device_.energy();
      each_ns = mean_ns(executions);
      const EnergyReading after = device_.energy();
      const double window_ns = each_ns * static_cast<double>(executions);
      if (window_ns < steady_ns_) continue;
      note_energy(energy_between(before, after, window_ns * 1e-9), after.source, executions);
      return each_ns;
    }
  }

  static std::int64_t executions_in(double ns, double each_ns) {
    return std::max<std::int64_t>(1, std::llround(std::ceil(ns / std::max(each_ns, 1.0))));
  }

  // Of executions back to back.
  double mean_ns(std::int64_t executions) {
    if (!times_itself()) {
      // Launches run ahead of the GPU, so what it is asked here costs it no time.
      std::int64_t left = executions / 2;
      const auto run = [&] {
        if (--left == 0) device_.observe();
        run_();
      };
      return device_.time_ns(run, clock_, executions);
    }
    if (executions > kMostOwnTimes)
      throw EnvironmentError({.what = "executions are too short for steady samples",
                              .where = id_,
                              .why = fmt::format("a sample takes {} of them, and a variant that times itself "
                                                 "tells at most {}",
                                                 executions, kMostOwnTimes)});
    const std::vector<double> times_ns = prepared_.traits().run_timed(executions);
    return std::accumulate(times_ns.begin(), times_ns.end(), 0.0) / static_cast<double>(executions);
  }

  // One sample without energy leaves the whole variant without.
  void note_energy(const EnergyUse& use, const std::string& source, std::int64_t executions) {
    if (!energy_.reason.empty()) return;
    if (!use.joules) {
      energy_ = {.reason = use.reason};
      return;
    }
    energy_.source = source;
    energy_.samples_j.push_back(*use.joules / static_cast<double>(executions));
  }

  bool times_itself() const { return static_cast<bool>(prepared_.traits().run_timed); }

  Device& device_;
  const CacheState cache_;
  const std::string& id_;
  PreparedVariant& prepared_;
  const double steady_ns_;  // 0: not steady
  const std::function<void()> run_ = [this] {
    prepared_.run();
    if (injected_ns_ > 0) device_.work(injected_ns_);
  };
  const std::string filter_;
  double estimate_ns_ = 0;
  double injected_ns_ = 0;
  std::int64_t batch_ = 1;  // executions between two readings of the clock
  Clock clock_ = Clock::ordinary;
  Energy energy_;  // of all steady samples so far
  std::optional<double> first_ns_;
};

}  // namespace

std::vector<TimedSamples> time_variants(Device& device, const std::vector<VerifiedVariant>& variants,
                                        std::optional<std::size_t> reference, const Measure& measure,
                                        const TimingProgress& progress, const Turn& turn,
                                        RoundsWatch* watch) {
  benchmark::ClearRegisteredBenchmarks();
  TimingBudget budget(measure);
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
  budget.begin_rounds();
  const std::vector<std::size_t> numbers = shuffled(variants.size(), measure.seed);
  std::int64_t rounds = measure.min_rounds;
  double longest_round_s = 0;
  const auto take_poisoned = [&](std::size_t v, std::int64_t round) {
    progress(variants[v].record.variant_id, round, budget.spent_s());
    watch->poison(v);
    const VariantTimer::Sample sample = timers[v]->poisoned_sample();
    samples[v].poisoned_ns.push_back(sample.ns);
    if (sample.first_ns) samples[v].poisoned_first_ns.push_back(*sample.first_ns);
  };
  for (std::int64_t round = 0;; ++round) {
    if (round == measure.min_rounds)
      rounds = std::max(rounds, rounds_wanted(variants, samples, reference, measure));
    if (round >= rounds || budget.spent(round, longest_round_s)) break;
    turn.begin();
    const double began_s = budget.spent_s();
    const auto sequence = round_order(variants.size(), static_cast<std::size_t>(round));
    for (const std::size_t place : sequence) {
      const std::size_t v = numbers[place];
      progress(variants[v].record.variant_id, round, budget.spent_s());
      if (watch != nullptr) watch->before_sample(v);
      const VariantTimer::Sample sample = timers[v]->sample();
      if (watch != nullptr) watch->after_sample(v);
      samples[v].ns.push_back(sample.ns);
      if (sample.first_ns) samples[v].first_ns.push_back(*sample.first_ns);
    }
    longest_round_s = std::max(longest_round_s, budget.spent_s() - began_s);
    if (watch != nullptr && watch->poisoned_round_follows(round)) {
      watch->begin_poisoned_round();
      for (const std::size_t place : sequence) {
        take_poisoned(numbers[place], round);
        watch->take(numbers[place]);
      }
    }
    turn.end();
  }
  if (watch != nullptr) {
    turn.begin();
    watch->begin_poisoned_round();
    std::vector<std::size_t> last = numbers;
    std::stable_partition(last.begin(), last.end(),
                          [&](std::size_t v) { return variants[v].prepared->traits().process != 0; });
    for (const std::size_t v : last) {
      take_poisoned(v, std::ssize(samples[v].ns));
      watch->take_last(v);
    }
    turn.end();
  }
  benchmark::ClearRegisteredBenchmarks();
  for (std::size_t v = 0; v < variants.size(); ++v) samples[v].energy = timers[v]->energy();
  return samples;
}

}  // namespace hilbench
