#include "kernels/base/process/shared_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "kernels/base/text/error.hpp"

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

TEST(SharedFile, IsReadOnlyOnceItIsSealed) {
  SharedFile file("sealed");
  file.write("kept", 4);
  file.seal();
  EXPECT_THROW(file.write("more", 4), EnvironmentError);
  // Not even by its path, nor in memory; a private copy of its pages may be changed.
  const int other = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  EXPECT_EQ(::pwrite(other, "junk", 4, 0), -1);
  EXPECT_NE(::ftruncate(other, 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0), MAP_FAILED);
  void* own = ::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE, other, 0);
  ASSERT_NE(own, MAP_FAILED);
  static_cast<char*>(own)[0] = 'j';
  ::munmap(own, 4);
  ::close(other);
  std::string text;
  std::getline(std::ifstream(file.path()), text);
  EXPECT_EQ(text, "kept");
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
