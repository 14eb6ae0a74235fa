#include "kernels/base/text/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

std::string json_refusal(const std::string& text) {
  try {
    parse_json(text, "the answer");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}
std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(JsonText, ReadsWhatIsJson) {
  EXPECT_EQ(parse_json(R"({"a": [1, "]]]"]})", "x"), (nlohmann::json{{"a", {1, "]]]"}}}));
  EXPECT_EQ(parse_json(nested(kDeepestJson), "x").size(), 1u);
}

TEST(JsonText, SaysWhatCannotBeRead) {
  EXPECT_EQ(json_refusal("{").rfind("the answer cannot be read: parse error", 0), 0u) << json_refusal("{");
  EXPECT_NE(json_refusal(""), "");
  EXPECT_NE(json_refusal("{} {}"), "");
}

TEST(JsonText, BoundsTheDepth) {
  EXPECT_EQ(json_refusal(nested(kDeepestJson + 1)),
            "the answer cannot be read: its JSON is nested deeper than 100 levels");
  EXPECT_NE(json_refusal(std::string(1'000'000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_NE(json_refusal(R"({"a": )" + nested(1'000'000) + "}").find("nested deeper"), std::string::npos);
}

TEST(JsonText, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(json_refusal(R"({"a": 1, "b": {"c": 1, "d": [{"c": 2}], "c": 3}})"),
            "the answer cannot be read: its JSON has the key 'c' twice in one object");
  EXPECT_NE(json_refusal(R"({"a": 1, "\u0061": 1})"), "");
  EXPECT_NE(json_refusal(R"({"": 1, "": 1})"), "");
  EXPECT_EQ(json_refusal(R"([{"a": {"a": 1}}, {"a": 2}, "a", "a"])"), "");
  EXPECT_EQ(key_given_twice(R"({"a": 1, "a": 2})"), "a");
  EXPECT_EQ(key_given_twice(R"({"a": {"a": 2}})"), std::nullopt);
}

TEST(JsonText, BracketsInStringsDoNotCount) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(parse_json('"' + brackets + '"', "x"), brackets);
  EXPECT_EQ(parse_json(R"("\\\"[)" + brackets + '"', "x").get<std::string>().size(), 1003u);
}

}  // namespace
}  // namespace hilbench
