#include "harness/external/external_variant.hpp"

#include <utility>

#include "baselines/external/programs.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

class ExternalVariant final : public PreparedVariant {
 public:
  ExternalVariant(Bench& bench, std::unique_ptr<ExternalProgram> program)
      : PreparedVariant(kDeclaredExternal), bench_(bench), program_(std::move(program)) {
    traits_ = {.library = program_->description(),
               .permute_ns = program_->permute_ns(),
               .devices = program_->devices(),
               .why_not_counted = "runs in a process of its own",
               .run_timed = [this](std::int64_t executions) { return program_->run(executions); },
               .timer = program_->timer(),
               .end = [this] { program_->end(); }};
  }

  void run() override { program_->run(1); }
  void fill_output(std::byte) override {}  // every read uses new files
  VerifyResult verify() override {
    return verify_output(bench_.work, bench_.oracle("", {}), output(), bench_.threads);
  }
  // A program is given its inputs once.
  bool load(InputSet) override { return false; }
  ProbeErrors probe() override { return {}; }
  OutputReader output() override { return program_->output(); }
  std::map<std::string, Counter> measured() override {
    constexpr std::int64_t kProfiled = 5;
    if (!program_->profiles()) return {};
    try {
      return {{"gpu_busy_ns",
               {.value = median(program_->profile(kProfiled)), .unit = "ns", .source = program_->timer()}}};
    } catch (const Unsupported& reason) {
      return {{"gpu_busy_ns", {.reason = reason.what()}}};
    }
  }

 private:
  Bench& bench_;
  const std::unique_ptr<ExternalProgram> program_;
};

}  // namespace

std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench,
                                                       std::unique_ptr<ExternalProgram> program) {
  return std::make_unique<ExternalVariant>(bench, std::move(program));
}

}  // namespace hilbench
