// Variants on their way through a comparison: prepared to run on the shared inputs, then verified.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/index.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

struct CounterSet;

// What is known of a variant when it is prepared, and what it does by itself. Unset, it does not.
struct PreparedTraits {
  nlohmann::json library;    // library, version and flags of a baseline; null for our own kernels
  nlohmann::json transport;  // how the ranks of a ring exchange data; null without a ring
  std::optional<double>
      permute_ns;   // to permute the inputs once, and a `tokens` output back; none for linear order
  int devices = 1;  // on which it runs
  const Index* index = nullptr;  // null if a single index does not describe all that is read
  std::string why_not_counted;   // why hardware counters cannot see its work
  // External baselines and rings time themselves: the duration of each of these executions in nanoseconds, by
  // the clock `timer`.
  std::function<std::vector<double>(std::int64_t executions)> run_timed;
  std::string timer;
  // Of a program: its process, and what is known of the requests for timed executions so far.
  pid_t process = 0;
  std::function<Requests()> requests;
  // Why it computes another function than the case asks for, as it says; empty if it computes that one.
  std::string other_function;
  // Of a program: holds what it reports for executions alone against what it reports for executions beside
  // others, and for many against what its GPU was busy meanwhile. Throws EnvironmentError if the reported
  // times cannot be true.
  std::function<void()> check_clock;
  // The ranks of a ring count themselves: the counters of one execution. Other variants are counted from
  // outside.
  std::function<std::map<std::string, Counter>(const CounterSet&)> count;
  // Nothing more is asked of it. Does not wait for a program that ends now, so that several end side by side.
  std::function<void()> end;
};

// One variant, ready to run: its inputs are in order, its index and workspace exist.
class PreparedVariant {
 public:
  virtual ~PreparedVariant() = default;

  const Implementation& implementation() const { return implementation_; }
  const PreparedTraits& traits() const { return traits_; }

  // Runs once. This is what is timed; fresh buffers and a computed index are part of it.
  virtual void run() = 0;
  // Sets every byte of the output.
  virtual void fill_output(std::byte value) = 0;
  // Brings the whole output of the last run into the memory of this process, if it is elsewhere. Then no
  // choice of rows can reach who computed it.
  virtual void take_output() {}
  // Takes rows of the output of the last run.
  virtual TakenRows take(const DrawnRows& rows) = 0;
  // Of the bench, whose oracle the rows are compared with.
  virtual ComputedFunction function() const { return {}; }
  // Makes further runs compute on these inputs, which the bench must hold (Bench::hold). False: its inputs
  // are given once and for all, and they stay.
  virtual bool load(InputSet set) = 0;
  // Those that it computes on.
  virtual InputSet inputs() const = 0;
  // Compares the output of the last run, on the inputs of the key probe, with what it must be, in rows that
  // `entropy` draws.
  virtual ProbeErrors probe(std::uint64_t entropy) = 0;
  // Reads the output of the last run. Not valid after the next run.
  virtual OutputReader output() = 0;
  // Numbers that the variant measures itself (`peak`: copy bandwidth). Overwrites the output.
  virtual std::map<std::string, Counter> measured() = 0;

 protected:
  explicit PreparedVariant(const Implementation& implementation) : implementation_(implementation) {}
  PreparedTraits traits_;  // to be set by the constructor

 private:
  const Implementation& implementation_;
};

// Why the output of the variant is wrong, if it is. A program that gives no LSE may be a chain of products
// that stores its scores.
inline VerifyResult judged(const Case& work, const PreparedVariant& variant, const OutputErrors& errors) {
  const bool chain = variant.traits().process != 0 && errors.lse_values == 0;
  VerifyResult result = judge_output(
      work, errors, chain || variant.implementation().stores_scores ? Scores::stored : Scores::fp32);
  // Of another function the errors are distances.
  if (!variant.traits().other_function.empty()) result.fault = unusable_output(errors);
  return result;
}

// A variant whose output is right, ready to be timed and counted. `record` collects the measurements.
struct VerifiedVariant {
  Record record;
  std::unique_ptr<PreparedVariant> prepared;
};

}  // namespace hilbench
