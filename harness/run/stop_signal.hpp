// Ctrl-C and other signals that ask the program to stop.
#pragma once

namespace hilbench {

// The number of the signal that asked to stop (SIGINT, SIGTERM, SIGHUP), or 0. catch_stop_signals installs
// the handlers; a signal that was ignored before (nohup) stays ignored.
int stop_signal();
void catch_stop_signals();

// Thrown if stop_signal() is set. The worker is gone, and nothing of its work was recorded.
struct Interrupted {};

}  // namespace hilbench
