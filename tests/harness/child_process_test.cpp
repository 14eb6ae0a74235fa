#include "harness/child_process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/error.hpp"

namespace hilbench {
namespace {

std::string answer_of(const std::string& script, const std::map<std::string, std::string>& variables) {
  return ChildProcess("shell", {"sh", "-c", "read line; " + script}, "", variables).ask("go");
}

TEST(ChildProcess, SeesTheVariablesThatItIsGivenBesideThisProcesssOwn) {
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

TEST(ChildProcess, IsFoundInPathWithAnEnvironmentOfItsOwn) {
  EXPECT_EQ(answer_of("echo here", {{"A", "b"}}), "here");
  EXPECT_THROW(ChildProcess("none", {"no-such-program"}, "", {{"A", "b"}}), EnvironmentError);
}

}  // namespace
}  // namespace hilbench
