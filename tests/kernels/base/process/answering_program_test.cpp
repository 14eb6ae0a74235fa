#include "kernels/base/process/answering_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

std::string answer_of(const std::string& script, const std::map<std::string, std::string>& variables) {
  return AnsweringProgram("shell", {"sh", "-c", "read line; " + script}, "", variables).ask("go");
}

TEST(AnsweringProgram, SeesTheVariablesThatItIsGivenBesideThisProcesssOwn) {
  ::setenv("HILBENCH_TEST_KEPT", "kept", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  const std::string script = "echo $HILBENCH_TEST_KEPT $CUDA_VISIBLE_DEVICES";
  EXPECT_EQ(answer_of(script, {{"CUDA_VISIBLE_DEVICES", "GPU-1"}}), "kept GPU-1");
  EXPECT_EQ(answer_of(script, {}), "kept 3,1");
  EXPECT_EQ(answer_of("env | grep -c ^CUDA_VISIBLE_DEVICES=", {{"CUDA_VISIBLE_DEVICES", "GPU-1"}}), "1");
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "3,1") << "this process's own stays";
  ::unsetenv("HILBENCH_TEST_KEPT");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(AnsweringProgram, IsFoundInPathWithAnEnvironmentOfItsOwn) {
  EXPECT_EQ(answer_of("echo here", {{"A", "b"}}), "here");
  EXPECT_THROW(AnsweringProgram("none", {"no-such-program"}, "", {{"A", "b"}}), EnvironmentError);
}

std::string complaint_of(const std::string& script) {
  try {
    return "answered " + answer_of(script, {});
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

TEST(AnsweringProgram, HasEndedThoughWhatItStartedKeepsItsStreams) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(complaint_of("sleep 20 & echo no tea >&2; exit 3"), "'shell' exited with status 3: no tea");
  EXPECT_EQ(complaint_of("sleep 20 & echo last words"), "answered last words");
  // One that never stops talking, on either stream.
  const std::string endless = "timeout 20 sh -c 'while :; do printf endless; done'";
  EXPECT_EQ(complaint_of(endless + " & exit 4"), "'shell' exited with status 4");
  EXPECT_TRUE(complaint_of(endless + " >&2 & exit 5").starts_with("'shell' exited with status 5"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(AnsweringProgram, ExitsWhenItIsTold) {
  const std::string ended = ::testing::TempDir() + "/hilbench-child-ended";
  ::unlink(ended.c_str());
  AnsweringProgram shell("shell", {"sh", "-c", "while read line; do echo $line; done; touch " + ended}, "");
  EXPECT_EQ(shell.ask("go"), "go");
  shell.end();
  for (int look = 0; look < 1000 && ::access(ended.c_str(), F_OK) != 0; ++look) ::usleep(10000);
  EXPECT_EQ(::access(ended.c_str(), F_OK), 0) << "while the object that started it lives on";
  ::unlink(ended.c_str());
}

TEST(AnsweringProgram, ThatIsGoneIsSeenToBeByTheNextQuestionToo) {
  const auto start = std::chrono::steady_clock::now();
  AnsweringProgram shell("shell", {"sh", "-c", "sleep 20 0<&0 & read line; echo once"}, "");
  EXPECT_EQ(shell.ask("go"), "once");
  EXPECT_THROW(shell.ask("go"), EnvironmentError);
  EXPECT_THROW(shell.ask("go"), EnvironmentError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(AnsweringProgram, AnswersLaterWhileOthersAreAsked) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> slow = {"sh", "-c", "read line; sleep 2; echo $line"};
  AnsweringProgram first("first", slow, ""), second("second", slow, ""),
      gone("gone", {"sh", "-c", "exit 3"}, "");
  first.send("one");
  second.send("two");
  EXPECT_EQ(second.hear(), "two");
  EXPECT_EQ(first.hear(), "one");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(3900))
      << "one after the other";
  gone.send("go");
  EXPECT_THROW(gone.hear(), EnvironmentError) << "it has ended long since";
}

TEST(AnsweringProgram, IsHeardThoughItEndedBeforeItWasAsked) {
  AnsweringProgram early("early", {"sh", "-c", "echo early"}, "");
  ::usleep(300000);
  EXPECT_EQ(early.ask("go"), "early");
  EXPECT_THROW(early.ask("go"), EnvironmentError);
  AnsweringProgram deaf("deaf", {"sh", "-c", "exec 0<&-; sleep 20"}, "");
  ::usleep(300000);
  EXPECT_THROW(deaf.send("go"), EnvironmentError);
}

// Whether a process still holds the lock of `file`.
bool is_held(const std::string& file) {
  const int own = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool held = ::flock(own, LOCK_EX | LOCK_NB) != 0;
  ::close(own);
  return held;
}

// A script that starts a process in a session of its own with `start`. It answers when that process holds the
// lock of `file`, which it does for 60 s.
std::string leaving(const std::string& start, const std::string& file) {
  const std::string left = start + " flock " + file + " sh -c 'echo held; exec sleep 60'";
  return "read line; (" + left + " &); read more";
}

std::string lock_file() {
  return testing::TempDir() + "hilbench_child_" + std::to_string(::getpid());
}

TEST(AnsweringProgram, IsEndedWithWhatItStartedInOtherSessions) {
  AnsweringProgram other("other", {"sh", "-c", "read line; echo still"}, "");
  {
    AnsweringProgram shell("shell", {"sh", "-c", leaving("setsid", lock_file())}, "");
    EXPECT_EQ(shell.ask("go"), "held");
    EXPECT_TRUE(is_held(lock_file()));
  }
  EXPECT_FALSE(is_held(lock_file()));
  EXPECT_EQ(other.ask("go"), "still");
  ::unlink(lock_file().c_str());
}

TEST(AnsweringProgram, IsEndedWithWhatLostItsMark) {
  {
    AnsweringProgram shell("shell", {"sh", "-c", leaving("env -i setsid", lock_file())}, "");
    EXPECT_EQ(shell.ask("go"), "held");
    EXPECT_TRUE(is_held(lock_file()));
  }
  EXPECT_FALSE(is_held(lock_file()));
  ::unlink(lock_file().c_str());
}

TEST(AnsweringProgram, LeavesOtherChildrenAlone) {
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    ::sleep(60);
    ::_exit(0);
  }
  {
    AnsweringProgram first("first", {"sh", "-c", "read line; echo first; read line; echo still"}, "");
    EXPECT_EQ(first.ask("go"), "first");
    { EXPECT_EQ(AnsweringProgram("second", {"sh", "-c", "read line; echo second"}, "").ask("go"), "second"); }
    EXPECT_EQ(first.ask("go"), "still");
  }
  EXPECT_EQ(::waitpid(bystander, nullptr, WNOHANG), 0) << "it was ended";
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
}

}  // namespace
}  // namespace hilbench
