#include "harness/measure/turns.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace hilbench {
namespace {

void wait_in_silence() {}

TEST(Turns, AlternateFromTheFirstOn) {
  const auto [first, second] = make_turns();
  std::string sequence;  // written by the thread whose turn it is
  const auto play = [&sequence](int socket, char name) {
    Turns turns(socket);
    for (int turn = 0; turn < 50; ++turn) {
      turns.take(wait_in_silence);
      sequence += name;
      turns.pass();
    }
    turns.take(wait_in_silence);
  };
  std::thread other(play, second, 'b');
  play(first, 'a');
  other.join();
  std::string expected;
  for (int turn = 0; turn < 50; ++turn) expected += "ab";
  EXPECT_EQ(sequence, expected);
}

TEST(Turns, WhoIsLeftAloneGoesOn) {
  const auto [first, second] = make_turns();
  Turns left(second);
  ::close(first);
  for (int turn = 0; turn < 3; ++turn) {
    left.take(wait_in_silence);
    left.pass();
  }
  EXPECT_FALSE(left.shared());
}

TEST(Turns, WithoutASocketNobodyIsWaitedFor) {
  Turns alone(-1);
  EXPECT_FALSE(alone.shared());
  alone.take([] { FAIL() << "it waited"; });
  alone.pass();
}

TEST(Turns, SaysThatItWaits) {
  const auto [first, second] = make_turns();
  int times = 0;
  std::thread other([socket = first] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    Turns turns(socket);
    turns.take(wait_in_silence);
    turns.pass();
  });
  Turns turns(second);
  turns.take([&times] { ++times; });
  EXPECT_EQ(times, 1);
  other.join();
}

}  // namespace
}  // namespace hilbench
