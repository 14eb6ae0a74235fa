// Tries code that may crash or hang, in a child process.
#pragma once

#include <functional>
#include <string>

namespace hilbench {

struct ProbeFinding {
  bool works = false;
  std::string text;   // what was found, or why it does not work and what to do about it
  bool tried = true;  // false: no process could be started for it
};

// Runs `look` in a forked child and returns its finding. If the child crashes, throws or takes longer than
// `timeout_s`, the finding says so; the child is killed, also if this process ends first. `look` must not
// start a thread.
ProbeFinding probe(const std::function<ProbeFinding()>& look, double timeout_s);

}  // namespace hilbench
