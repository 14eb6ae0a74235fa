#include "reports/terminal/table_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace hilbench {
namespace {

Table compared() {
  Table table{.name = "compared",
              .caption = "",
              .columns = {{"case", "case"},
                          {"variant", "variant"},
                          {"a", "A", Align::right},
                          {"b", "B", Align::right},
                          {"ratio", "A / B", Align::right},
                          {"differs", "differs"},
                          {"raw", "raw", Align::right, Show::data}},
              .rows = {}};
  for (const char* of_case : {"n8192-w2048-r1-h8-d64-fp32-p1-cpu", "n16384-w2048-r1-h8-d64-fp32-p1-cpu"})
    for (const char* variant : {"dilated/linear", "dilated/hilbert.4096@tokens/sawtooth_tile"})
      table.rows.push_back({{of_case},
                            {variant},
                            {"50.05 us [49.69, 50.41]"},
                            {"41.39 us [40.66, 42.13]"},
                            {"1.209 [1.192, 1.226]"},
                            {""},
                            {"raw value"}});
  return table;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t width = 0;
  for (std::string line; std::getline(in, line);) width = std::max(width, display_width(line));
  return width;
}

TEST(TableText, FitsTheScreen) {
  for (const std::size_t width : {40, 60, 72, 80, 100, 140}) {
    const std::string text = table_text(compared(), {.width = width});
    EXPECT_LE(longest_line(text), std::max<std::size_t>(width, 43)) << text;
    for (const char* kept : {"n16384-w2048", "dilated/hilbert.4096@tokens/sawtooth_tile", "1.192, 1.226]"})
      EXPECT_NE(text.find(kept), std::string::npos) << kept << "\n" << text;
    EXPECT_EQ(text.find(" \n"), std::string::npos) << "no space at the end of a line";
    EXPECT_EQ(text.find("raw"), std::string::npos);
  }
}

TEST(TableText, GivesUpOnlyWhatItMust) {
  const std::string at_80 = table_text(compared(), {.width = 80});
  EXPECT_EQ(at_80.find("49.69"), std::string::npos) << "intervals of times go";
  EXPECT_NE(at_80.find("  50.05 us  41.39 us  1.209 [1.192, 1.226]"), std::string::npos) << at_80;
  EXPECT_EQ(at_80.find("n8192-w2048"), at_80.rfind("n8192-w2048")) << "a heading once\n" << at_80;
  const std::string at_140 = table_text(compared(), {.width = 140});
  EXPECT_NE(at_140.find("50.05 us [49.69, 50.41]"), std::string::npos);
  EXPECT_EQ(at_140.find("differs"), std::string::npos) << "an empty column goes first";
  const std::string whole = table_text(compared(), {});
  EXPECT_NE(whole.find("differs"), std::string::npos);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 5);
}

TEST(TableText, PutsALongTextUnderItsRow) {
  Table table{
      .name = "claims",
      .caption = "",
      .columns = {{"claim", "claim"}, {"verdict", "verdict"}, {"says", "basis"}},
      .rows = {{{"one"}, {"reproduced"}, {"a sentence that is long enough to need two lines of text"}},
               {{"two"}, {"excluded"}, {""}}}};
  EXPECT_EQ(table_text(table, {.width = 40}),
            "claim  verdict\n"
            "one    reproduced\n"
            "      basis: a sentence that is long\n"
            "      enough to need two lines of text\n"
            "two    excluded\n");
}

TEST(TableText, LetsNoTextControlTheTerminal) {
  Table table{.name = "t", .caption = "", .columns = {{"a", "a"}}, .rows = {{{"\033[2J"}}}};
  EXPECT_EQ(table_text(table, {.width = 80}).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace hilbench
