// Two worker processes that measure in turns, so that what disturbs the machine disturbs both alike.
#pragma once

#include <array>
#include <functional>

namespace hilbench {

// What a process does at the start and at the end of each of its turns.
struct Turn {
  std::function<void()> begin = [] {};
  std::function<void()> end = [] {};
};

// The turns of one of two processes, over a socket: a byte from the other one is the turn. If the other one
// ends, all turns are of this one. Without a socket (-1) they always are.
class Turns {
 public:
  explicit Turns(int socket);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  bool shared() const { return socket_ >= 0; }
  // Waits for the turn, and calls `waiting` every second until then. Throws EnvironmentError.
  void take(const std::function<void()>& waiting);
  // Rests before, until the threads of OpenMP sleep.
  void pass();

 private:
  void close();
  int socket_;
};

// The sockets of two processes that share turns; the process with the first of them begins. Programs that are
// started do not inherit them by themselves. From now on the threads of OpenMP in such programs sleep after
// about a millisecond without work (variables of the environment, unless they are set). Throws
// EnvironmentError.
std::array<int, 2> make_turns();

}  // namespace hilbench
