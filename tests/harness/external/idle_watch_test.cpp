#include "harness/external/idle_watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace hilbench {
namespace {

// A process that computes, or sleeps, until it is killed.
class Child {
 public:
  explicit Child(bool computes) : id_(::fork()) {
    if (id_ != 0) return;
    for (volatile int i = 0;; i = i + 1)
      if (!computes) ::pause();
  }
  ~Child() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t id() const { return id_; }

 private:
  pid_t id_;
};

void sample(IdleWatch& watch, std::size_t v) {
  watch.look();
  watch.before_sample(v);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  watch.after_sample(v);
}

TEST(IdleWatch, SeesWhoComputesWhileAnotherIsAsked) {
  const Child spins(true), sleeps(false);
  IdleWatch watch({0, sleeps.id(), spins.id()}, DeviceKind::cpu);
  sample(watch, 2);
  EXPECT_FALSE(watch.found()) << "it is asked";
  sample(watch, 0);
  ASSERT_TRUE(watch.found());
  EXPECT_EQ(watch.found()->variant, 2u);
  EXPECT_GT(watch.found()->cores, 0.12);
}

TEST(IdleWatch, SeesItWhileNobodyIsAsked) {
  const Child spins(true);
  IdleWatch watch({0, spins.id()}, DeviceKind::cpu);
  for (int rests = 0; rests < 20 && !watch.found(); ++rests) {
    watch.look();
    watch.rest();
  }
  ASSERT_TRUE(watch.found());
  EXPECT_EQ(watch.found()->variant, 1u);
}

TEST(IdleWatch, NobodyIsBlamedWhoSleeps) {
  const Child sleeps(false), also(false);
  IdleWatch watch({sleeps.id(), 0, also.id()}, DeviceKind::cpu);
  for (const std::size_t v : {0, 1, 2}) sample(watch, v);
  EXPECT_FALSE(watch.found());
}

// It descends from this process, but no program that is known started it.
TEST(IdleWatch, SeesAProcessThatCutItsTies) {
  const Child orphan(true), sleeps(false), also(false);
  IdleWatch watch({0, sleeps.id(), also.id()}, DeviceKind::cpu);
  sample(watch, 0);
  ASSERT_TRUE(watch.found());
  EXPECT_FALSE(watch.found()->variant) << "of two programs either may have started it";
  IdleWatch of_one({0, sleeps.id()}, DeviceKind::cpu);
  sample(of_one, 0);
  ASSERT_TRUE(of_one.found());
  EXPECT_EQ(of_one.found()->variant, 1u);
}

TEST(IdleWatch, LooksAtNothingWithoutPrograms) {
  const Child spins(true);
  IdleWatch watch({0, 0}, DeviceKind::cpu);
  sample(watch, 0);
  EXPECT_FALSE(watch.found());
}

}  // namespace
}  // namespace hilbench
