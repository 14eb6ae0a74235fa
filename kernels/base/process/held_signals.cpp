#include "kernels/base/process/held_signals.hpp"

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

thread_local const HeldSignals* innermost = nullptr;

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

HeldSignals::HeldSignals() : outer_(innermost) {
  sigemptyset(&held_);
  for (const int signal : kStopSignals) {
    struct sigaction action = {};
    // One that is ignored (nohup) would be pending all the same.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&held_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
  if (outer_ != nullptr) before_ = outer_->before_;
  innermost = this;
}

HeldSignals::~HeldSignals() {
  innermost = outer_;
  if (outer_ == nullptr) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::pending() const {
  sigset_t all;
  if (sigpending(&all) != 0) return false;
  for (const int signal : kStopSignals)
    if (sigismember(&all, signal) == 1 && sigismember(&held_, signal) == 1) return true;
  return false;
}

void stop_if_asked() {
  if (innermost != nullptr && innermost->pending())
    throw Error(ExitCode::interrupted, {"stopped", "", "", ""});
}

}  // namespace hilbench
