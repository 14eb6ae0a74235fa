// Signals that ask this process to stop (SIGINT, SIGTERM, SIGHUP), held back while it must not leave anything
// behind: neither a folder nor a child.
#pragma once

#include <signal.h>

namespace hilbench {

// While one lives, such a signal waits; it ends the process when the last one is destroyed. They may be
// nested. For one thread: others must not take the signal.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  bool pending() const;  // whether one waits
  // What was held back before the outermost one: what children get.
  const sigset_t& before() const { return before_; }

 private:
  const HeldSignals* outer_;
  sigset_t held_, before_;
};

// Throws Error with ExitCode::interrupted if a signal waits that a HeldSignals holds back: to stop early.
void stop_if_asked();

}  // namespace hilbench
