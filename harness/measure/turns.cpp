#include "harness/measure/turns.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

constexpr int kLook_ms = 1000;
// Threads of OpenMP wait for more work at full speed before they sleep, see shorten_waits().
constexpr std::chrono::microseconds kRest{300};

[[noreturn]] void fail() {
  throw EnvironmentError({.what = "cannot measure in turns", .why = std::strerror(errno)});
}

// Threads of OpenMP in programs that are started from now on wait for more work at full speed for less than
// kRest, then sleep; those of LLVM's library for a millisecond, the shortest that it knows. What the user has
// set stays.
void shorten_waits() {
  ::setenv("GOMP_SPINCOUNT", "5000", 0);
  ::setenv("KMP_BLOCKTIME", "1", 0);
}

}  // namespace

Turns::Turns(int socket) : socket_(socket) {}

Turns::~Turns() {
  close();
}

void Turns::take(const std::function<void()>& waiting) {
  while (shared()) {
    pollfd watched = {socket_, POLLIN, 0};
    const int ready = ::poll(&watched, 1, kLook_ms);
    if (ready < 0 && errno != EINTR) fail();
    if (ready <= 0) {
      waiting();
      continue;
    }
    char turn = 0;
    const ssize_t got = ::recv(socket_, &turn, 1, 0);
    if (got == 1) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) fail();
    close();  // the other process has ended
  }
}

void Turns::pass() {
  if (!shared()) return;
  std::this_thread::sleep_for(kRest);
  if (::send(socket_, "t", 1, MSG_NOSIGNAL) == 1) return;
  if (errno != EPIPE && errno != ECONNRESET) fail();
  close();
}

void Turns::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

std::array<int, 2> make_turns() {
  shorten_waits();
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail();
  if (::send(sockets[1], "t", 1, MSG_NOSIGNAL) != 1) fail();
  return sockets;
}

}  // namespace hilbench
