#include "harness/run/environment.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

namespace hilbench {
namespace {

TEST(EnvironmentJson, HasThePartsOfTheContract) {
  const nlohmann::json environment = environment_json({.host = inspect_host()}, DeviceKind::cpu);
  EXPECT_TRUE(environment.at("host").is_object());
  EXPECT_TRUE(environment.contains("device"));
  EXPECT_TRUE(std::regex_match(environment.at("time").get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
  for (const char* name : {"version", "commit", "compiler", "flags", "build_type"})
    EXPECT_FALSE(environment.at("build").at(name).get<std::string>().empty()) << name;
  for (const auto& [name, version] : environment.at("build").at("libraries").items())
    EXPECT_TRUE(std::regex_search(version.get<std::string>(), std::regex(R"(^\d+\.\d+)"))) << name;
}

TEST(VersionText, NamesVersionAndCommit) {
  EXPECT_TRUE(std::regex_match(
      version_text(), std::regex(R"(hilbench \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{7,}(-dirty)?)\))")))
      << version_text();
}

}  // namespace
}  // namespace hilbench
