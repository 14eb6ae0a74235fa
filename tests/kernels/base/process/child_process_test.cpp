#include "kernels/base/process/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "kernels/base/process/pipe.hpp"

namespace hilbench {
namespace {

// What `script` prints, run by a shell as `command` says.
std::string printed(std::string script, ChildCommand command = {}) {
  Pipe out;
  command.words = {"sh", "-c", std::move(script)};
  command.streams = {-1, out.write_end(), out.write_end()};
  ChildProcess shell(command);
  out.close_write();
  return read_all(out.read_end());
}

TEST(ChildProcess, SaysHowItEnded) {
  EXPECT_EQ(ChildProcess({.words = {"true"}}).wait(-1), 0);
  EXPECT_EQ(WEXITSTATUS(*ChildProcess({.words = {"sh", "-c", "exit 3"}}).wait(-1)), 3);
  ChildProcess sleeper({.words = {"sleep", "60"}});
  EXPECT_EQ(sleeper.wait(10), std::nullopt);
  sleeper.kill();
  EXPECT_EQ(WTERMSIG(*sleeper.wait(-1)), SIGKILL);
  EXPECT_EQ(WTERMSIG(*sleeper.wait(0)), SIGKILL);  // asked again
}

TEST(ChildProcess, ThatCannotBeStartedIsNone) {
  try {
    ChildProcess none({.words = {"no-such-program"}});
    FAIL();
  } catch (const CannotStart& failure) {
    EXPECT_EQ(failure.error, ENOENT);
    EXPECT_STREQ(failure.what(), "cannot start 'no-such-program': No such file or directory");
  }
  EXPECT_THROW(ChildProcess({.words = {"true"}, .folder = "/no/such/folder"}), CannotStart);
}

TEST(ChildProcess, GetsItsNameFolderVariablesAndStreams) {
  EXPECT_EQ(printed("echo $0", {.name = "other"}), "other\n");
  EXPECT_EQ(printed("pwd", {.folder = "/usr"}), "/usr\n");
  EXPECT_EQ(printed("echo $HILBENCH_A", {.variables = {{"HILBENCH_A", "b"}}}), "b\n");
  EXPECT_EQ(printed("cat; echo end"), "end\n");  // nothing to read
}

TEST(ChildProcess, HoldsOnlyTheSignalsAndDescriptorsThatItIsGiven) {
  Pipe other;
  const std::string look =
      "test -e /proc/self/fd/" + std::to_string(other.read_end()) + " && echo has it || echo has not";
  EXPECT_EQ(printed(look), "has not\n");
  EXPECT_EQ(printed(look, {.inherited = {other.read_end()}}), "has it\n");
  sigset_t held;
  ASSERT_EQ(sigemptyset(&held), 0);
  ASSERT_EQ(sigaddset(&held, SIGTERM), 0);
  EXPECT_EQ(printed("kill -TERM $$; echo lives", {.held_signals = &held}), "lives\n");
  EXPECT_EQ(printed("kill -TERM $$; echo lives"), "");
}

TEST(ChildProcess, OfAGroupOfItsOwnEndsWithTheGroup) {
  Pipe out;
  ChildProcess shell(
      {.words = {"sh", "-c", "sleep 60 & echo $$"}, .streams = {-1, out.write_end(), -1}, .own_group = true});
  out.close_write();
  EXPECT_EQ(shell.wait(-1), 0);
  EXPECT_EQ(read_all(out.read_end()), std::to_string(shell.id()) + "\n");  // which ends when nobody can write
}

}  // namespace
}  // namespace hilbench
