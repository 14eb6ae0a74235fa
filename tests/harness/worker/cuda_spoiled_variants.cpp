// The table of variants of cuda_faults_test.cpp: kernels that fault, hang, give wrong output, or need too
// much memory.
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/table.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "tests/fakes/own_implementations.hpp"
#include "tests/kernels/cuda/faults.hpp"

namespace hilbench {

extern const Implementation kDilatedSimt;

namespace {

std::atomic<int> g_runs = 0;  // executions of spoiled variants in this process
bool g_counting = false;      // the worker now counts a spoiled variant

using Spoil = void (*)(const Operands& operands);

// Runs dilated_simt, then spoils something.
class Spoiled final : public Execution {
 public:
  Spoiled(std::unique_ptr<Execution> right, Spoil spoil) : right_(std::move(right)), spoil_(spoil) {}
  void load(const Index& index) override { right_->load(index); }
  void run(const Operands& operands, const Index& index) override {
    ++g_runs;
    right_->run(operands, index);
    spoil_(operands);
  }
  std::map<std::string, Counter> measured() override {
    g_counting = true;
    return {};
  }

 private:
  std::unique_ptr<Execution> right_;
  Spoil spoil_;
};

void fault(const Operands&) {
  cuda::write_where_nothing_is();
}
void fault_when_timed(const Operands&) {
  if (g_runs > 3) cuda::write_where_nothing_is();
}
void fault_when_counted(const Operands&) {
  if (g_counting) cuda::write_where_nothing_is();
}
void hang(const Operands&) {
  cuda::spin_without_end();
}
void hang_when_timed(const Operands&) {
  if (g_runs > 3) cuda::spin_without_end();
}
void poison(const Operands& operands) {
  cuda::write_nan(static_cast<float*>(operands.o) + 37);
}
void ask_too_much(const Operands&) {
  const cuda::DeviceMemory<std::byte> memory(std::size_t{1} << 40);
}

template <Spoil spoil>
Implementation spoiled(std::string_view name) {
  Implementation implementation = kDilatedSimt;
  implementation.name = name;
  implementation.prepare = [](const Case& work, const KernelChoice& choice,
                              int threads) -> std::unique_ptr<Execution> {
    return std::make_unique<Spoiled>(kDilatedSimt.prepare(work, choice, threads), spoil);
  };
  return implementation;
}

// The plan accepts it, but `prepare` cannot get its memory.
Implementation greedy() {
  Implementation implementation = kDilatedSimt;
  implementation.name = "greedy";
  implementation.prepare = [](const Case&, const KernelChoice&, int) -> std::unique_ptr<Execution> {
    const cuda::DeviceMemory<std::byte> memory(std::size_t{1} << 40);
    return nullptr;
  };
  return implementation;
}

// The plan knows that this needs too much memory, and skips it.
Implementation large() {
  Implementation implementation = kDilatedSimt;
  implementation.name = "large";
  implementation.workspace_bytes = [](const Case&, int) { return 0x1p40; };
  return implementation;
}

}  // namespace

std::span<const Implementation* const> implementation_table() {
  static const std::array kOwn = {spoiled<fault>("fault"),
                                  spoiled<fault_when_timed>("fault_when_timed"),
                                  spoiled<fault_when_counted>("fault_when_counted"),
                                  spoiled<hang>("hang"),
                                  spoiled<hang_when_timed>("hang_when_timed"),
                                  spoiled<poison>("poison"),
                                  spoiled<ask_too_much>("ask_too_much"),
                                  greedy(),
                                  large()};
  static const std::vector<const Implementation*> kTable = [] {
    std::vector<const Implementation*> all = {&kDilatedSimt};
    for (const Implementation& implementation : kOwn) all.push_back(&implementation);
    return all;
  }();
  return kTable;
}

}  // namespace hilbench
