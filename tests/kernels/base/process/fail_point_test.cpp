#include "kernels/base/process/fail_point.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

TEST(FailPoint, IsReadFromText) {
  const FailPoint least = fail_point_of("in_commit");
  EXPECT_EQ(least.point, "in_commit");
  EXPECT_EQ(least.text, "");
  EXPECT_EQ(least.count, 1);
  EXPECT_EQ(least.signal, SIGKILL);
  const FailPoint most = fail_point_of("told_time@dilated/hilbert:12:STOP");
  EXPECT_EQ(most.point, "told_time");
  EXPECT_EQ(most.text, "dilated/hilbert");
  EXPECT_EQ(most.count, 12);
  EXPECT_EQ(most.signal, SIGSTOP);
  for (const char* wrong : {"", ":1", "@x", "a:0", "a:-1", "a:b", "a:1x", "a:1:KILLED", "a:1:KILL:", "a:1:9"})
    EXPECT_THROW(fail_point_of(wrong), UsageError) << wrong;
}

// What the environment asks for is read once, so each is passed in a process of its own. Exits with 0 if
// nothing happens.
[[noreturn]] void pass_five(const char* asked) {
  ::setenv("HILBENCH_FAIL_POINT", asked, 1);
  for (int pass = 1; pass <= 5; ++pass) {
    fail_point("before");
    fail_point("within", {"case", pass < 3 ? "linear" : "hilbert"});
  }
  ::_exit(0);
}

TEST(FailPoint, ActsAtTheAskedPassAlone) {
  const testing::KilledBySignal killed(SIGKILL), terminated(SIGTERM);
  const testing::ExitedWithCode passed(0);
  EXPECT_EXIT(pass_five("before:5"), killed, "");
  EXPECT_EXIT(pass_five("before:6"), passed, "");
  EXPECT_EXIT(pass_five("within:1:TERM"), terminated, "");
  EXPECT_EXIT(pass_five("within@hilbert:3"), killed, "");
  EXPECT_EXIT(pass_five("within@hilbert:4"), passed, "");
  EXPECT_EXIT(pass_five("before@case"), passed, "") << "that point has no details";
  EXPECT_EXIT(pass_five("elsewhere"), passed, "");
  EXPECT_EXIT(pass_five(""), passed, "");
}

}  // namespace
}  // namespace hilbench
