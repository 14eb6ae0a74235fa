#include "harness/worker/poisoned_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "harness/measure/drawn_rows.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// Another process has verified the case: this one takes its time for measuring, with one poisoned round and
// few rows, also of a small case.
bool verified_elsewhere(const ComparisonTask& task) {
  return task.verify == Verify::after;
}

// On inputs that it has not seen a variant may take longer, but not this much: then it does not compute
// otherwise.
constexpr double kSlower = 2, kSlowerBy_ns = 1e5;

std::vector<pid_t> processes_of(const std::vector<VerifiedVariant>& variants) {
  std::vector<pid_t> processes;
  for (const VerifiedVariant& variant : variants) processes.push_back(variant.prepared->traits().process);
  return processes;
}

bool has_output(const VerifiedVariant& variant) {
  return variant.prepared->implementation().has_output;
}

// True if the shortest execution on new inputs is too long beside the median of others.
bool unlike(const std::vector<double>& ordinary_ns, const std::vector<double>& new_ns) {
  if (ordinary_ns.empty() || new_ns.empty()) return false;
  return *std::min_element(new_ns.begin(), new_ns.end()) > kSlower * median(ordinary_ns) + kSlowerBy_ns;
}

// Of V.
InputSet other_sign(InputSet inputs) {
  return inputs == InputSet::second ? InputSet::negated : InputSet::second;
}

}  // namespace

PoisonedRounds::PoisonedRounds(const TaskContext& run, std::vector<VerifiedVariant>& variants)
    : run_(run),
      variants_(variants),
      idle_(processes_of(variants), run.bench.work.device),
      random_(fresh_entropy()),
      taken_(variants.size()) {
  idle_.look();
  idle_.rest();
  // One of the first rounds, however few there are.
  const std::int64_t rounds = run.task.measure.min_rounds;
  if (verified_elsewhere(run.task)) block_ = std::max(rounds, block_);
  block_end_ = std::clamp<std::int64_t>(rounds, 1, block_);
  next_ = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(block_end_));
}

void PoisonedRounds::expect_idle_at_the_end() {
  idle_.look();
  idle_.rest();
  expect_idle();
}

void PoisonedRounds::expect_idle() const {
  if (const auto burner = idle_.found()) throw Disturbed{*burner};
}

bool PoisonedRounds::poisoned_round_follows(std::int64_t round) {
  expect_idle();
  idle_.look();
  if (round != next_) return false;
  next_ = block_end_ + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(block_));
  block_end_ += block_;
  return true;
}

void PoisonedRounds::begin_poisoned_round() {
  ++poisoned_;
  inputs_ = other_sign(inputs_);
  run_.bench.hold(inputs_);
  rows_ = draw(random_(), kPoisonedRows);
}

DrawnRows PoisonedRounds::draw(std::uint64_t entropy, std::int64_t wanted) const {
  const Case& work = run_.bench.work;
  if (!verified_elsewhere(run_.task)) return drawn(work, entropy, wanted);
  DrawnRows few{.entropy = entropy_text(entropy), .rows = rows_with(work, {}, entropy, kPoisonedRows)};
  if (work.pass != Pass::forward)
    few.keys = rows_with(rows_of(work, Gradient::k), {}, entropy, kPoisonedRows);
  return few;
}

void PoisonedRounds::draw_last_rows() {
  if (std::exchange(last_drawn_, true)) return;
  last_entropy_ = fresh_entropy();
  rows_ = draw(last_entropy_, kSampledRows);
}

void PoisonedRounds::poison(std::size_t v) {
  if (!has_output(variants_[v])) return;
  variants_[v].prepared->load(inputs_);
  variants_[v].prepared->fill_output(kPoison);
}

void PoisonedRounds::take_rows_of(std::size_t v) {
  run_.bench.device->synchronize();
  taken_[v].push_back(variants_[v].prepared->take(rows_));
}

// A program that takes no other inputs has nothing new to show.
bool PoisonedRounds::follows(std::size_t v) const {
  return has_output(variants_[v]) && variants_[v].prepared->inputs() == inputs_;
}

void PoisonedRounds::take(std::size_t v) {
  if (follows(v)) take_rows_of(v);
}

// Executions of a program alone in their requests, each on other inputs than the one before: what computes
// only every third time is wrong in one of them. Longer ones are asked for alone in each round.
void PoisonedRounds::take_in_sequence(std::size_t v) {
  constexpr int kSets = 4;  // even: the last are those of before
  constexpr std::chrono::milliseconds kLong{50};
  PreparedVariant& prepared = *variants_[v].prepared;
  InputSet inputs = inputs_;
  for (int set = 0; set < kSets; ++set) {
    inputs = other_sign(inputs);
    run_.bench.hold(inputs);
    if (!prepared.load(inputs)) return;
    const auto begin = std::chrono::steady_clock::now();
    prepared.run();
    const bool is_long = std::chrono::steady_clock::now() - begin > kLong;
    take_rows_of(v);
    if (is_long && set % 2 == 1) return;
  }
}

// One more execution follows: what is right every second time is wrong in one of two in sequence.
void PoisonedRounds::take_last(std::size_t v) {
  if (!has_output(variants_[v])) return;
  PreparedVariant& prepared = *variants_[v].prepared;
  if (prepared.traits().process != 0) {
    take(v);
    take_in_sequence(v);
    prepared.run();
    prepared.take_output();
    return;
  }
  draw_last_rows();
  take_rows_of(v);
  prepared.fill_output(kPoison);
  prepared.run();
  take_rows_of(v);
}

std::optional<std::string> PoisonedRounds::fault_of(std::size_t v, const TimedSamples& samples) {
  VerifiedVariant& variant = variants_[v];
  OutputErrors errors;
  for (const TakenRows& taken : taken_[v])
    errors.add(
        compare_rows(run_.bench.oracle(variant.prepared->function(), InputSet::second, compared_), taken));
  const VerifyResult result = judged(run_.bench.work, *variant.prepared, errors);
  if (!variant.record.verify) variant.record.verify.emplace();
  Verification& verify = *variant.record.verify;
  verify.other_function = variant.prepared->traits().other_function;
  verify.after = result.check;
  verify.poisoned_rounds = poisoned_;
  const std::string drawn = entropy_text(last_entropy_);
  verify.entropy = {verify.entropy.empty() ? drawn : verify.entropy.front() + " " + drawn};
  if (result.fault) return "as it is timed: " + *result.fault;
  if (variant.prepared->traits().process == 0) return std::nullopt;
  try {
    variant.prepared->traits().check_clock();
    return fault_of_times(*variant.prepared, samples);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

// A program could compute once for each set of inputs. If it seems to, a few more sets decide: a disturbed
// sample alone does not.
std::optional<std::string> PoisonedRounds::fault_of_times(PreparedVariant& prepared,
                                                          const TimedSamples& samples) {
  constexpr int kSets = 4;
  if (!unlike(samples.first_ns, samples.poisoned_first_ns)) return std::nullopt;
  std::vector<double> ordinary_ns, new_ns;
  for (int set = 0; set < kSets; ++set) {
    inputs_ = other_sign(inputs_);
    if (!prepared.load(inputs_)) return std::nullopt;
    new_ns.push_back(prepared.traits().run_timed(1).front());
    ordinary_ns.push_back(prepared.traits().run_timed(1).front());
  }
  if (!unlike(ordinary_ns, new_ns)) return std::nullopt;
  return fmt::format(
      "new inputs take {:.3g} ns or more, others {:.3g} ns: it does not compute in each execution",
      *std::min_element(new_ns.begin(), new_ns.end()), median(ordinary_ns));
}

void PoisonedRounds::judge(std::vector<TimedSamples>& samples) {
  draw_last_rows();  // unless a variant is no program
  const auto place = [](const RowId& row) { return std::tuple(row.batch, row.position, row.head); };
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    if (has_output(variants_[v]) && variants_[v].prepared->traits().process != 0)
      taken_[v].push_back(variants_[v].prepared->take(rows_));  // of what was taken after its last execution
    for (const TakenRows& taken : taken_[v]) {
      compared_.rows.insert(compared_.rows.end(), taken.rows.begin(), taken.rows.end());
      compared_.keys.insert(compared_.keys.end(), taken.keys.begin(), taken.keys.end());
    }
  }
  const auto same = [&](const RowId& a, const RowId& b) { return place(a) == place(b); };
  for (std::vector<RowId>* rows : {&compared_.rows, &compared_.keys}) {
    std::ranges::sort(*rows, {}, place);
    rows->erase(std::unique(rows->begin(), rows->end(), same), rows->end());
  }
  compared_.entropy = entropy_text(last_entropy_);
  std::vector<VerifiedVariant> right;
  std::vector<TimedSamples> samples_of_right;
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    const NvtxRange in_variant(variants_[v].record.variant_id), in_phase("verify");
    run_.tell({.phase = Phase::verify, .variant_id = variants_[v].record.variant_id});
    if (has_output(variants_[v]))
      if (const auto fault = fault_of(v, samples[v])) {
        settle(run_, std::move(variants_[v].record), Status::failed, *fault);
        continue;
      }
    right.push_back(std::move(variants_[v]));
    samples_of_right.push_back(std::move(samples[v]));
  }
  variants_ = std::move(right);
  samples = std::move(samples_of_right);
}

}  // namespace hilbench
