// Verifies variants as they are timed: in poisoned rounds between the others, and in one after the last.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "harness/external/idle_watch.hpp"
#include "harness/measure/timing.hpp"
#include "harness/worker/phases.hpp"

namespace hilbench {

// Before a poisoned round the sign of V changes, so that an output of before is wrong, and outputs are
// overwritten; after each sample some rows are taken. Which rounds and rows, fresh entropy decides. `run` and
// `variants` must outlive it.
class PoisonedRounds final : public RoundsWatch {
 public:
  PoisonedRounds(const TaskContext& run, std::vector<VerifiedVariant>& variants);

  void before_sample(std::size_t v) override { idle_.before_sample(v); }
  void after_sample(std::size_t v) override { idle_.after_sample(v); }
  // Throws Disturbed if a program computed while others were timed.
  bool poisoned_round_follows(std::int64_t round) override;
  void begin_poisoned_round() override;
  void poison(std::size_t v) override;
  void take(std::size_t v) override;
  void take_last(std::size_t v) override;

  // Sets what was found in each record, and drops the variants whose output was wrong; their records are
  // settled. `samples` has the times of each variant; those of the dropped ones leave it.
  void judge(std::vector<TimedSamples>& samples);

  struct Disturbed {
    IdleWatch::Burner by;
  };
  void expect_idle() const;
  void expect_idle_at_the_end();

 private:
  DrawnRows draw(std::uint64_t entropy, std::int64_t wanted) const;
  void draw_last_rows();  // once
  bool follows(std::size_t v) const;
  void take_rows_of(std::size_t v);
  void take_in_sequence(std::size_t v);
  std::optional<std::string> fault_of(std::size_t v, const TimedSamples& samples);
  std::optional<std::string> fault_of_times(PreparedVariant& prepared, const TimedSamples& samples);

  const TaskContext& run_;
  std::vector<VerifiedVariant>& variants_;
  IdleWatch idle_;
  std::mt19937_64 random_;
  std::int64_t next_ = 0;    // number of the round that a poisoned one follows
  std::int64_t block_ = 12;  // rounds of which one is chosen
  std::int64_t block_end_ = 0;
  std::int64_t poisoned_ = 0;  // rounds so far
  InputSet inputs_ = InputSet::second;
  DrawnRows rows_;  // of the present round
  std::uint64_t last_entropy_ = 0;
  bool last_drawn_ = false;
  DrawnRows compared_;                         // all rows that were taken
  std::vector<std::vector<TakenRows>> taken_;  // by variant
};

}  // namespace hilbench
