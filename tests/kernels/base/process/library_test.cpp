#include "kernels/base/process/library.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/run_in_child.hpp"

namespace hilbench {
namespace {

TEST(LoadedLibrary, WaitsForNoPipe) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe.so").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  constexpr double kSoon_s = 5;
  const ProbeFinding finding = probe(
      [&] {
        const LoadedLibrary library({pipe, "/dev/zero", "libm.so.6"});
        return ProbeFinding{.works = library && library.name() == "libm.so.6", .text = library.why()};
      },
      kSoon_s);
  EXPECT_TRUE(finding.works);
  EXPECT_EQ(finding.text, pipe + ": not a file, but a folder, a pipe or a device");
}

TEST(Probe, SaysHowTheProcessEnded) {
  EXPECT_EQ(probe([]() -> ProbeFinding { std::_Exit(3); }, 5).text, "exited with status 3 when it was tried");
  EXPECT_EQ(probe([]() -> ProbeFinding { std::abort(); }, 5).text, "crashed when it was tried (signal 6)");
}

}  // namespace
}  // namespace hilbench
