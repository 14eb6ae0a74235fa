// Ctrl-C and its like.
#pragma once

namespace hilbench {

// Whether the user asked to stop (SIGINT, SIGTERM, SIGHUP); the signal's number, or 0. Set by handlers that
// catch_stop_signals installs; a signal that was ignored already (nohup) stays ignored.
int stop_signal();
void catch_stop_signals();

// Thrown when stop_signal() is set: the worker is gone, nothing was recorded of what it did.
struct Interrupted {};

}  // namespace hilbench
