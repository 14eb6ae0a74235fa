#include "harness/external/idle_watch.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "kernels/base/process/offspring.hpp"

namespace hilbench {
namespace {

// Of processor time while others are timed, in the mean. Threads of frameworks wake now and then.
constexpr double kMostCores = 0.1;
// Beside a GPU a processor does little: a program that polls it does not disturb.
constexpr double kMostCoresBesideGpu = 0.5;
constexpr double kLeast_s = 0.05;  // of processor time: less is no evidence
constexpr std::chrono::milliseconds kSettle{20}, kRest{100};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

IdleWatch::IdleWatch(std::vector<pid_t> programs, DeviceKind device)
    : programs_(std::move(programs)),
      most_cores_(device == DeviceKind::cuda ? kMostCoresBesideGpu : kMostCores) {}

void IdleWatch::look() {
  processes_.clear();
  if (std::ranges::all_of(programs_, [](pid_t program) { return program == 0; })) return;
  for (const auto& [child, below] : descendants_by_child()) {
    const bool program = std::ranges::find(programs_, child) != programs_.end();
    processes_[program ? child : 0].insert(below.begin(), below.end());
  }
}

std::map<pid_t, double> IdleWatch::used() const {
  std::map<pid_t, double> used_s;
  for (const auto& [program, processes] : processes_)
    for (const pid_t process : processes) used_s[program] += processor_s(process);
  return used_s;
}

void IdleWatch::begin() {
  before_ = used();
  begin_s_ = now_s();
}

void IdleWatch::end(pid_t asked) {
  const double seconds = now_s() - begin_s_;
  for (const auto& [program, used_s] : used()) {
    // Nobody can tell for whom a process computes that belongs to no program.
    if (asked != 0 && (program == asked || program == 0)) continue;
    Total& total = idle_[program];
    total.used_s += std::max(0.0, used_s - before_[program]);
    total.seconds += seconds;
  }
}

void IdleWatch::before_sample(std::size_t) {
  if (!processes_.empty()) begin();
}

void IdleWatch::after_sample(std::size_t v) {
  if (!processes_.empty()) end(programs_[v]);
}

void IdleWatch::rest() {
  if (processes_.empty()) return;
  std::this_thread::sleep_for(kSettle);  // threads that wait for more work spin for some milliseconds
  look();
  begin();
  std::this_thread::sleep_for(kRest);
  look();  // who began meanwhile has used all of its time in this while
  end(0);
}

std::optional<IdleWatch::Burner> IdleWatch::found() const {
  std::optional<Burner> worst;
  for (const auto& [program, total] : idle_) {
    if (total.used_s < kLeast_s || total.used_s < most_cores_ * total.seconds) continue;
    const double cores = total.used_s / total.seconds;
    if (worst && worst->cores >= cores) continue;
    worst = Burner{.variant = std::nullopt, .cores = cores, .seconds = total.seconds};
    const auto programs = std::ranges::count_if(programs_, [](pid_t each) { return each != 0; });
    for (std::size_t v = 0; v < programs_.size(); ++v)
      if (programs_[v] != 0 && (programs_[v] == program || programs == 1)) worst->variant = v;
  }
  return worst;
}

}  // namespace hilbench
