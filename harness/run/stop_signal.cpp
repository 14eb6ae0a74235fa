#include "harness/run/stop_signal.hpp"

#include <signal.h>

#include <cerrno>
#include <cstring>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

volatile sig_atomic_t g_stop_signal = 0;

void note_stop(int signal) {
  g_stop_signal = signal;
}

}  // namespace

int stop_signal() {
  return g_stop_signal;
}

void catch_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = note_stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    const bool known = ::sigaction(signal, nullptr, &before) == 0;
    if (known && before.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    if (!known || ::sigaction(signal, &action, nullptr) != 0)
      throw EnvironmentError({.what = "cannot catch signals", .why = std::strerror(errno)});
  }
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace hilbench
