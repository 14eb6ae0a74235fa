#include "kernels/base/text/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hilbench {
namespace {

TEST(Text, ComesOnOneLine) {
  EXPECT_EQ(one_line("a\tb\nc\x7f"), "a b c ");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("abc", 3), "abc");
  for (const std::size_t limit : {1, 2, 3})
    EXPECT_EQ(one_line("a\u20ac", limit), "a...") << "no half character";
  EXPECT_EQ(one_line("a\u20ac", 4), "a\u20ac");
}

TEST(Text, HoldsNothingThatATerminalObeys) {
  EXPECT_EQ(one_line("a\u009b31mb\u0080c\u009fd\u00a0e"), "a 31mb c d\u00a0e") << "CSI as one character";
  EXPECT_EQ(one_line("a\u2028b\u2029c\u202ed\u2066e\u2069f\u2070"), "a b c d e f\u2070")
      << "lines, directions";
  EXPECT_EQ(one_line("a\x9b"
                     "31mb"),
            "a\uFFFD31mb")
      << "no UTF-8";
  EXPECT_EQ(one_line("\xe2\x82"), "\uFFFD\uFFFD") << "cut off";
  EXPECT_EQ(one_line("\xc0\xaf\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD") << "overlong, a surrogate";
  EXPECT_EQ(one_line("\U0001F600 \u05d0"), "\U0001F600 \u05d0");
  EXPECT_EQ(one_line("a\u200eb\u200fc\u061cd\u2010"), "a b c d\u2010") << "marks of direction";
  EXPECT_EQ(printable("a\u009b31m\u202e\tb\n\x1b\u2066\x9b"), "a 31m  b\n  \uFFFD") << "all but line breaks";
}

TEST(Text, FindsTheNearestName) {
  const std::array<std::string_view, 3> names = {"heads", "head_dim", "batch"};
  EXPECT_EQ(nearest_name("head", names), "heads");
  EXPECT_EQ(nearest_name("head_dmi", names), "head_dim");
  EXPECT_EQ(nearest_name("wholly_different", names), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Quoting, NamesNeverBecomeCommands) {
  EXPECT_EQ(shell_quoted("sweeps/quick.yaml"), "sweeps/quick.yaml");
  EXPECT_EQ(shell_quoted("a b'c$(d)"), "'a b'\\''c$(d)'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(regex_escaped("a.b+c@d/e|f"), "a\\.b\\+c@d/e\\|f");
}

TEST(Quoting, WordsAreThoseOfAShell) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(shell_words("  python3\tmine.py\n"), (Words{"python3", "mine.py"}));
  EXPECT_EQ(shell_words(R"('a b'/c "d e"f g\ h '' "")"), (Words{"a b/c", "d ef", "g h", "", ""}));
  EXPECT_EQ(shell_words(R"("a\"b\c" 'd\e"' \')"), (Words{R"(a"b\c)", R"(d\e")", "'"}));
  EXPECT_EQ(shell_words(" "), Words{});
  for (const char* open : {"'a", "\"a'", "a\\", "\"a\\\""})
    EXPECT_EQ(shell_words(open), std::nullopt) << open;
  for (const std::string& text : Words{"a b'c$(d)", "", "e\\f\"g"})
    EXPECT_EQ(shell_words(shell_quoted(text)), Words{text});
}

}  // namespace
}  // namespace hilbench
