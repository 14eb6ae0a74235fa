#include "harness/process/shared_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

TEST(SharedFile, IsReadByItsPath) {
  SharedFile file("text");
  file.write("two ", 4);
  file.write("parts", 5);
  EXPECT_EQ(file.bytes(), 9u);
  std::string text;
  std::getline(std::ifstream(file.path()), text);
  EXPECT_EQ(text, "two parts");
}

TEST(SharedFile, GivesBackFloatsFromAnyNumberOn) {
  SharedFile file("floats");
  const std::array<float, 4> values = {1, 2, 3, 4};
  file.write(values.data(), sizeof values);
  std::array<float, 2> middle{};
  file.read(1, middle);
  EXPECT_EQ(middle, (std::array<float, 2>{2, 3}));
  EXPECT_THROW(file.read(3, middle), EnvironmentError) << "past the end";
}

TEST(SharedFile, IsGoneWithItsOwner) {
  std::string path;
  {
    const SharedFile file("short");
    path = file.path();
    EXPECT_TRUE(std::ifstream(path).good());
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

}  // namespace
}  // namespace hilbench
