#include "harness/external/python_package.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hilbench {
namespace {

TEST(PythonPackage, IsAnArchiveOfTheFiles) {
  const std::string archive = stored_zip({{"a/b.txt", "123456789"}, {"c", ""}});
  const auto at = [&](std::size_t offset) { return static_cast<unsigned char>(archive.at(offset)); };
  EXPECT_EQ(archive.substr(0, 4), "PK\x03\x04");
  // 0xcbf43926 is the check value of CRC-32.
  EXPECT_EQ((std::vector<int>{at(14), at(15), at(16), at(17)}), (std::vector<int>{0x26, 0x39, 0xf4, 0xcb}));
  EXPECT_EQ(archive.substr(30, 16), "a/b.txt123456789");
  EXPECT_EQ(at(archive.size() - 12), 2) << "files";
}

TEST(PythonPackage, StandsBehindWhatPythonpathHas) {
  ::setenv("PYTHONPATH", "/first", 1);
  SharedFile file("package");
  EXPECT_EQ(python_path_with(file), "/first:" + file.path());
  ::unsetenv("PYTHONPATH");
  SharedFile alone("package");
  EXPECT_EQ(python_path_with(alone), alone.path());
  EXPECT_GT(alone.bytes(), 5000u);
}

}  // namespace
}  // namespace hilbench
