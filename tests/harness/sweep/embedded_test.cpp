#include "harness/sweep/embedded.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/sweep/sweep.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(EmbeddedSweeps, AreTheFilesOfTheTree) {
  std::set<std::string> files, embedded;
  for (const auto& entry : fs::recursive_directory_iterator(HILBENCH_SWEEPS))
    if (entry.path().extension() == ".yaml")
      files.insert("sweeps" + entry.path().string().substr(std::string(HILBENCH_SWEEPS).size()));
  for (const EmbeddedSweep& sweep : embedded_sweeps()) {
    embedded.insert(std::string(sweep.file));
    EXPECT_EQ(sweep.text, content(fs::path(HILBENCH_SWEEPS).parent_path() / sweep.file)) << sweep.file;
  }
  EXPECT_EQ(embedded, files) << "a sweep of the tree has a line in harness/CMakeLists.txt";
}

TEST(EmbeddedSweeps, AreFoundByPathAndByName) {
  std::set<std::string_view> names;
  for (const EmbeddedSweep& sweep : embedded_sweeps()) {
    EXPECT_TRUE(names.insert(sweep.name()).second) << sweep.file << ": two sweeps have this name";
    EXPECT_EQ(find_embedded_sweep(sweep.name()), &sweep);
    EXPECT_EQ(find_embedded_sweep(sweep.path()), &sweep);
    EXPECT_NO_THROW((void)parse_embedded(sweep)) << sweep.file;
  }
  const EmbeddedSweep* found = find_embedded_sweep("cache/cpu-order");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->file, "sweeps/cache/cpu-order.yaml");
  EXPECT_EQ(found->name(), "cpu-order");
  for (const char* other : {"", "cache", "cpu-order.yaml", "sweeps/quick.yaml", "Quick"})
    EXPECT_EQ(find_embedded_sweep(other), nullptr) << other;
}

TEST(EmbeddedSweeps, TheSchemaIsTheFile) {
  EXPECT_EQ(sweep_schema(), content(HILBENCH_SWEEPS "/sweep.schema.json"));
}

}  // namespace
}  // namespace hilbench
