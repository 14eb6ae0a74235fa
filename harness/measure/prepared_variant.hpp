// Variants on their way through a comparison: prepared to run on the shared inputs, then verified.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/index.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

struct CounterSet;

// One variant, ready to run: its inputs are in order, its index and workspace exist.
class PreparedVariant {
 public:
  virtual ~PreparedVariant() = default;

  // Runs once. This is what is timed; fresh buffers and a computed index are part of it.
  virtual void run() = 0;

  // External baselines and rings time themselves: returns the duration of each of `executions` in
  // nanoseconds.
  virtual std::vector<double> run_timed(std::int64_t /*executions*/) { return {}; }
  virtual bool times_itself() const { return false; }
  virtual std::string timer() const { return ""; }
  // Number of devices that the variant runs on.
  virtual int devices() const { return 1; }
  // The reason why hardware counters cannot see its work; empty if they can.
  virtual std::string why_not_counted() const { return ""; }
  // The ranks of a ring count themselves: returns the counters of one execution. Nothing is returned by other
  // variants; their run() can be counted from outside.
  virtual std::optional<std::map<std::string, Counter>> count(const CounterSet&) { return std::nullopt; }
  // Library, version and flags of a baseline; null for our own kernels.
  virtual nlohmann::json library() const { return nullptr; }
  // How the ranks of a ring exchange data; null without a ring.
  virtual nlohmann::json transport() const { return nullptr; }

  // Sets every byte of the output.
  virtual void fill_output(std::byte value) = 0;
  // Compares the output of the last run with the oracle.
  virtual VerifyResult verify() = 0;
  // Makes further runs compute on these inputs, which the bench must hold (Bench::hold). False: its inputs
  // are given once and for all, and they stay.
  virtual bool load(InputSet set) = 0;
  // Compares the output of the last run, on the inputs of the key probe, with what it must be.
  virtual ProbeErrors probe() = 0;
  // Reads the output of the last run. Not valid after the next run.
  virtual OutputReader output() = 0;

  const Implementation& implementation() const { return implementation_; }
  // Null if a single index does not describe all that is read.
  virtual const Index* index() const { return nullptr; }
  // Numbers that the variant measures itself (`peak`: copy bandwidth). Overwrites the output.
  virtual std::map<std::string, Counter> measured() = 0;
  // The slots of a `tokens` variant, which computes another function; otherwise empty.
  virtual std::span<const std::int32_t> token_slots() const { return {}; }
  // Nothing more is asked of it. Does not wait for a program that ends now, so that several end side by side.
  virtual void end() {}
  // Time to permute the inputs once (and a `tokens` output back). None for the linear order.
  virtual std::optional<double> permute_ns() const = 0;

 protected:
  explicit PreparedVariant(const Implementation& implementation) : implementation_(implementation) {}

 private:
  const Implementation& implementation_;
};

// A variant whose output is right, ready to be timed and counted. `record` collects the measurements.
struct VerifiedVariant {
  Record record;
  std::unique_ptr<PreparedVariant> prepared;
};

}  // namespace hilbench
