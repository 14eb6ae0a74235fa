// Variants on their way through a comparison: made ready to run on shared inputs, then verified.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/verify.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/index.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

struct CounterSet;

// One variant made ready: its inputs in order, its index, its workspace.
class PreparedVariant {
 public:
  virtual ~PreparedVariant() = default;

  // One execution: what is timed. Fresh buffers and a computed index are part of it.
  virtual void run() = 0;

  // Of an external baseline and of a ring, which time themselves: durations of so many executions.
  virtual std::vector<double> run_timed(std::int64_t /*executions*/) { return {}; }
  virtual bool times_itself() const { return false; }
  virtual std::string timer() const { return ""; }
  // Devices like the bench's that it runs on together.
  virtual int devices() const { return 1; }
  // Why hardware counters do not see its work; empty: they do.
  virtual std::string why_not_counted() const { return ""; }
  // Of a ring, whose ranks count: what they do in an execution. Nothing: run() may be counted as it is.
  virtual std::optional<std::map<std::string, Counter>> count(const CounterSet&) { return std::nullopt; }
  // Library, version and flags of a rival.
  virtual nlohmann::json library() const { return nullptr; }
  // Of a ring: how its ranks exchange data.
  virtual nlohmann::json transport() const { return nullptr; }

  // Sets every byte of the output.
  virtual void fill_output(std::byte value) = 0;
  // The output of the last run against the oracle.
  virtual VerifyResult verify() = 0;
  // The output of the last run; not to be read after the next.
  virtual OutputReader output() = 0;

  const Implementation& implementation() const { return implementation_; }
  // Null where one index does not tell all that is read.
  virtual const Index* index() const { return nullptr; }
  // Figures that the variant measures of itself (`peak`: copy bandwidth). The output is lost.
  virtual std::map<std::string, Counter> measured() = 0;
  // Slots of a `tokens` variant, whose function differs; else empty.
  virtual std::span<const std::int32_t> token_slots() const { return {}; }
  // Putting the inputs into the order once (and a `tokens` output back); none for the linear order.
  virtual std::optional<double> permute_ns() const = 0;

 protected:
  explicit PreparedVariant(const Implementation& implementation) : implementation_(implementation) {}

 private:
  const Implementation& implementation_;
};

// A variant whose output is right: to be timed and counted. `record` collects what is measured of it.
struct VerifiedVariant {
  Record record;
  std::unique_ptr<PreparedVariant> prepared;
};

}  // namespace hilbench
