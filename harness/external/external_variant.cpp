#include "harness/external/external_variant.hpp"

#include <utility>

#include "baselines/external/programs.hpp"
#include "harness/counters/counters.hpp"
#include "harness/external/kernel_layout.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

class ExternalVariant final : public PreparedVariant {
 public:
  ExternalVariant(Bench& bench, ComparisonPrograms& programs, const Record& record)
      : PreparedVariant(record.variant.is_baseline() ? kDeclaredExternal : kDeclaredKernel),
        bench_(bench),
        files_(programs.files()),
        order_(stored_order(record.work, record.variant.kernel())),
        program_(programs.load(record)) {
    program_->allow_for_others([&bench] { return bench.used_by_others(); });
    traits_ = {.library = program_->description(),
               .permute_ns = program_->permute_ns(),
               .devices = program_->devices(),
               .why_not_counted = "runs in a process of its own",
               .run_timed =
                   [this](std::int64_t executions) {
                     taken_.reset();
                     return program_->run(executions);
                   },
               .timer = program_->timer(),
               .process = program_->process(),
               .requests = [this] { return program_->requests(); },
               .other_function = program_->other_function(),
               .check_clock = [this] { program_->check_clock(*bench_.device); },
               .end = [this] { program_->end(); }};
    if (program_->counts()) {
      traits_.why_not_counted.clear();
      traits_.count = [this](const CounterSet& set) { return program_->count(set.name, bench_.cache); };
    }
    if (!order_.slots.empty()) traits_.permute_ns = permute_ns();
  }

  void run() override { traits_.run_timed(1); }
  void fill_output(std::byte) override {}  // every read uses new files
  void take_output() override { taken_ = program_->output(); }
  TakenRows take(const DrawnRows& rows) override {
    if (taken_ || program_->protocol() == 1)
      return take_rows(bench_.work, output(), rows, held_, bench_.threads);
    return program_->rows(rows, held_);
  }
  bool load(InputSet set) override {
    if (set == held_) return true;
    if (!program_->give(files_.of(set, order_), changed_inputs(bench_.work, held_, set))) return false;
    held_ = set;
    return true;
  }
  InputSet inputs() const override { return held_; }
  ProbeErrors probe(std::uint64_t entropy) override {
    if (bench_.forward)
      return compare_gradient_probe(bench_.work, bench_.gradient_probe(entropy), output(), bench_.threads);
    return compare_probe(bench_.work, bench_.key_probe({}, entropy), output(), all_rows(bench_.work),
                         bench_.threads, Exponentials::short_ones);
  }
  OutputReader output() override { return taken_ ? *taken_ : program_->output(); }
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
  // What storing K and V in the order takes once, on the device, as it does for kernels of this project.
  double permute_ns() {
    const Case& work = bench_.work;
    double ns = 0;
    for (const Buffer* from : {&bench_.stored.k, &bench_.stored.v}) {
      Buffer to = bench_.device->allocate(from->bytes);
      const auto move = [&] {
        bench_.device->permute(*from, to, work.batch, order_.slots, row_bytes(work, work.kv_heads),
                               Direction::into_order);
      };
      move();  // once untimed: it touches the pages
      ns += bench_.device->time_ns(move);
    }
    return ns;
  }

  InputFileSets& files_;
  const StoredOrder order_;
  const std::unique_ptr<ExternalProgram> program_;
  InputSet held_ = InputSet::second;
  std::optional<OutputReader> taken_;  // of the last run
};

}  // namespace

std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench, ComparisonPrograms& programs,
                                                       const Record& record) {
  return std::make_unique<ExternalVariant>(bench, programs, record);
}

}  // namespace hilbench
