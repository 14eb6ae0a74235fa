#include "reports/terminal/screen.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace hilbench {
namespace {

// A variable of the environment while the object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = std::make_unique<std::string>(before);
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value == nullptr)
      ::unsetenv(name_);
    else
      ::setenv(name_, value, 1);
  }
  const char* name_;
  std::unique_ptr<std::string> before_;
};

using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

// The screen of a terminal of `columns` columns; 0: it does not tell them.
Screen of_terminal(unsigned short columns) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(master, 0);
  EXPECT_EQ(::grantpt(master), 0);
  EXPECT_EQ(::unlockpt(master), 0);
  const File terminal(std::fopen(::ptsname(master), "w"), &std::fclose);
  const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(::ioctl(master, TIOCSWINSZ, &size), 0);
  const Screen screen = screen_of(terminal.get());
  ::close(master);
  return screen;
}

TEST(Screen, OfAFileHasNoColoursAndNoWidthButColumns) {
  const File file(std::tmpfile(), &std::fclose);
  const Variable unset("COLUMNS", nullptr);
  EXPECT_EQ(screen_of(file.get()).width, 0u);
  EXPECT_EQ(screen_of(file.get()).colours, Colours::off);
  const Variable columns("COLUMNS", "72");
  EXPECT_EQ(screen_of(file.get()).width, 72u);
}

TEST(Screen, OfATerminalHasItsWidthAndColours) {
  const Variable unset("COLUMNS", nullptr), colour("NO_COLOR", nullptr), kind("TERM", "xterm");
  EXPECT_EQ(of_terminal(140).width, 140u);
  EXPECT_EQ(of_terminal(0).width, 80u);
  EXPECT_EQ(of_terminal(140).colours, Colours::on);
  const Variable columns("COLUMNS", "100");
  EXPECT_EQ(of_terminal(140).width, 100u) << "COLUMNS is asked first";
  for (const char* wrong : {"", "-5", "wide", "80x", "0", "99999999999999999999"}) {
    const Variable none("COLUMNS", wrong);
    EXPECT_EQ(of_terminal(140).width, 140u) << wrong;
  }
}

TEST(Screen, NoColorAndADumbTerminalHaveNoColours) {
  {
    const Variable colour("NO_COLOR", "1"), kind("TERM", "xterm");
    EXPECT_EQ(of_terminal(80).colours, Colours::off);
  }
  {
    const Variable colour("NO_COLOR", ""), kind("TERM", "xterm");
    EXPECT_EQ(of_terminal(80).colours, Colours::on) << "an empty NO_COLOR asks for nothing";
  }
  const Variable colour("NO_COLOR", nullptr), kind("TERM", "dumb");
  EXPECT_EQ(of_terminal(80).colours, Colours::off);
}

TEST(Screen, TonesAreEscapesOnlyWithColours) {
  EXPECT_EQ(toned("slower", Tone::bad, {.colours = Colours::on}), "\033[31mslower\033[0m");
  EXPECT_EQ(toned("slower", Tone::bad, {}), "slower");
  EXPECT_EQ(toned("plain", Tone::plain, {.colours = Colours::on}), "plain");
  EXPECT_EQ(bold("", {.colours = Colours::on}), "");
}

TEST(Screen, WrapsBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 8, 2, 4), "one\n  two\n  three");
  EXPECT_EQ(wrapped("one averyverylongword two", 8, 1), "one\n averyverylongword\n two");
  EXPECT_EQ(wrapped("one two", 0, 2), "one two");
  EXPECT_EQ(wrapped("", 8, 2), "");
  EXPECT_EQ(display_width("\u00b5s"), 2u);
}

}  // namespace
}  // namespace hilbench
