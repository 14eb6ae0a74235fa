#include "reports/view/table.hpp"

#include <gtest/gtest.h>

#include "reports/view/format.hpp"

namespace hilbench {
namespace {

Table small() {
  return {.name = "small",
          .caption = "",
          .columns = {{"a", "A"}, {"b", "B", Align::right, Show::data}, {"c", "C", Align::right, Show::page}},
          .rows = {{{"x|y", Tone::good}, {"1,5\"q\""}, {"<b>&'\""}}}};
}

TEST(Table, CsvQuotesAndLeavesPageColumnsOut) {
  EXPECT_EQ(to_csv(small()), "a,b\r\nx|y,\"1,5\"\"q\"\"\"\r\n");
}

TEST(Table, CellsLinkInHtmlAlone) {
  Table table = small();
  table.rows[0][0].link = record_address("n8-h<1>", "dilated/a b#c");
  EXPECT_NE(to_html(table).find("<a href=\"#record=n8-h%3C1%3E/dilated/a%20b%23c\">x|y</a>"),
            std::string::npos)
      << to_html(table);
  EXPECT_EQ(to_csv(table), to_csv(small()));
  EXPECT_EQ(to_markdown(table), to_markdown(small()));
}

TEST(Table, CsvFieldsAreNoFormulas) {
  for (const char* formula : {"=1+1", "=HYPERLINK(\"x\")", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-",
                              "-1 cmd|' /C calc'!A0", " =1+1", "\n=1+1", "\uff1d1+1"})
    EXPECT_EQ(csv_field(formula).find_first_not_of('"'), csv_field(formula).find('\'')) << csv_field(formula);
  for (const char* number : {"-2", "+3.5", "-1e-9", "0.5", "", "-1.5 %", "+28 % more lines"})
    EXPECT_EQ(csv_field(number), number);
  EXPECT_EQ(csv_field("a=b"), "a=b");
}

TEST(Table, NoFormKeepsWhatATerminalWouldActOn) {
  Table table = small();
  table.rows[0][0].text = "\x1b]0;owned\x07 a\rb\x7f";
  EXPECT_EQ(to_csv(table), "a,b\r\n ]0;owned  a b ,\"1,5\"\"q\"\"\"\r\n");
  for (const std::string& text : {to_csv(table), to_markdown(table), to_html(table)})
    for (const char c : {'\x1b', '\x07', '\x7f'}) EXPECT_EQ(text.find(c), std::string::npos) << text;
}

TEST(Table, MarkdownEscapesAndLeavesDataColumnsOut) {
  EXPECT_EQ(to_markdown(small()), "| A | C |\n|---|---:|\n| x\\|y | \\<b\\>&'\" |\n");
}

TEST(Table, HtmlEscapesAndMarksTones) {
  const std::string html = to_html(small());
  EXPECT_NE(html.find("<td class=\"good\">x|y</td><td class=\"num\">&lt;b&gt;&amp;&#39;&quot;</td>"),
            std::string::npos)
      << html;
  EXPECT_EQ(html.find("1,5"), std::string::npos);
}

TEST(Table, GroupsHaveTheirTitlesAboveTheirRowsInTextAlone) {
  Table table = small();
  table.rows.push_back(table.rows.front());
  table.groups = {{1, "<second>"}};
  EXPECT_EQ(to_markdown(table),
            "| A | C |\n|---|---:|\n| x\\|y | \\<b\\>&'\" |\n| **\\<second\\>** |  |\n| x\\|y | "
            "\\<b\\>&'\" |\n");
  EXPECT_NE(to_html(table).find("</tr>\n<tr class=\"group\"><th scope=\"colgroup\" colspan=\"2\"><span>"
                                "&lt;second&gt;</span></th></tr>\n<tr>"),
            std::string::npos)
      << to_html(table);
  EXPECT_EQ(to_csv(table).find("second"), std::string::npos);
}

TEST(Table, HtmlNamesBreakBetweenTheirParts) {
  Table table = small();
  table.rows[0][0].text = "dilated_mma/<i>@tokens/";
  const std::string html = to_html(table);
  EXPECT_NE(html.find(">dilated_<wbr>mma/<wbr>&lt;i&gt;@<wbr>tokens/</td>"), std::string::npos) << html;
}

TEST(Format, NumbersKeepTheirDigitsAndUnits) {
  EXPECT_EQ(number_text(0.99871), "0.9987");
  EXPECT_EQ(number_text(12.3456), "12.35");
  EXPECT_EQ(number_text(123456), "123456");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1.5e-6), "1.50e-06");
  EXPECT_EQ(number_text(1e15, 1), "1e+15");
  EXPECT_EQ(number_text(0.0 / 0.0), "not a number");
  EXPECT_EQ(time_text(12345678, {12300000, 12400000}), "12.35 ms [12.30, 12.40]");
  EXPECT_EQ(time_text(0.5), "0.5000 ns");
  EXPECT_EQ(bytes_text(3 << 20), "3.000 MiB");
  EXPECT_EQ(rate_text(1.25e11), "125.0 GFLOP/s");
  EXPECT_EQ(data_text(std::nullopt), "");
  EXPECT_EQ(data_text(1.0 / 0.0), "");
}

}  // namespace
}  // namespace hilbench
