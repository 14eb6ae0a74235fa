#include "kernels/base/files/files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <ostream>
#include <stdexcept>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() { fs::create_directories(folder_); }
  ~Files() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename());
    return found;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("files_test_" + std::to_string(::getpid()));
  const fs::path file_ = folder_ / "a.txt";
};

std::string letter_refusal(const fs::path& file, std::size_t most_bytes = 100) {
  try {
    read_text(file, "letter", most_bytes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, TextComesBackAsWritten) {
  const std::string text("a\0b\n", 4);
  write_file(file_, text);
  EXPECT_EQ(read_text(file_, "letter", 4), text);
  EXPECT_EQ(names(), std::vector<std::string>{"a.txt"});
}

TEST_F(Files, WhatIsNoFileIsRefusedUnread) {
  EXPECT_EQ(letter_refusal(file_).find("no such letter ("), 0u);
  EXPECT_EQ(letter_refusal(folder_).find("not a letter ("), 0u);
  EXPECT_EQ(letter_refusal("/dev/zero").find("not a letter ("), 0u);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(letter_refusal(file_).find("not a letter ("), 0u);
}

TEST_F(Files, LargeFilesAreRefused) {
  write_file(file_, std::string((3 << 20) + 1, 'x'));
  EXPECT_EQ(read_text(file_, "letter", (3 << 20) + 1).size(), (3u << 20) + 1);
  EXPECT_NE(letter_refusal(file_, 3 << 20).find("letter too large"), std::string::npos);
}

// Longer than what is read at once; a change of any byte is a change of the hash, and so is a byte more.
TEST_F(Files, AHashIsOfEveryByte) {
  std::string text((std::size_t{1} << 20) + 13, 'a');
  const auto hash = [&] {
    write_file(file_, text);
    return hash_file(file_);
  };
  const std::uint64_t before = hash();
  EXPECT_EQ(hash(), before);
  for (const std::size_t place : {std::size_t{0}, text.size() / 2, text.size() - 1}) {
    text[place] = 'b';
    EXPECT_NE(hash(), before) << place;
    text[place] = 'a';
  }
  text += 'a';
  EXPECT_NE(hash(), before);
  EXPECT_THROW(hash_file(file_ / "absent"), UsageError);
}

TEST_F(Files, WritersOfOneFileDoNotMeet) {
  write_file(file_, [&](std::ostream& out) {
    out << "first";
    write_file(file_, "second");
  });
  EXPECT_EQ(read_text(file_, "letter", 100), "first") << "the last one to end";
  EXPECT_EQ(names(), std::vector<std::string>{"a.txt"});
}

TEST_F(Files, ANameMayBeAsLongAsTheFileSystemTakes) {
  const fs::path file = folder_ / std::string(255, 'x');
  write_file(file, "one");
  write_file(file, "two");
  EXPECT_EQ(read_text(file, "file", 100), "two");
}

TEST_F(Files, AWriterThatFailsLeavesNothing) {
  write_file(file_, "before");
  EXPECT_THROW(write_file(file_, [](std::ostream&) { throw std::runtime_error("lost"); }),
               std::runtime_error);
  EXPECT_EQ(names(), std::vector<std::string>{"a.txt"});
  EXPECT_EQ(read_text(file_, "letter", 100), "before");
  EXPECT_THROW(write_file(folder_ / "nosuch" / "a.txt", "x"), UsageError);
  EXPECT_THROW(write_file("/dev/full", "x"), EnvironmentError);
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(Files, AFullDiskIsAnEnvironmentError) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    int status = setrlimit(RLIMIT_FSIZE, &limit) == 0 ? 0 : 98;
    try {
      write_file(file_, std::string(100'000, 'x'));
    } catch (const Error& error) {
      status = static_cast<int>(error.code());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace hilbench
