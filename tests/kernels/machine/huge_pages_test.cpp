#include "kernels/machine/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// A made-up /sys.
class InspectHugePages : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "hilbench_pages_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& name, const std::string& text) {
    const fs::path file = root_ / "sys/kernel/mm/transparent_hugepage" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  fs::path root_;
};

TEST_F(InspectHugePages, ReadsWhatIsChosen) {
  write("enabled", "always [madvise] never\n");
  write("defrag", "always defer defer+madvise [madvise] never\n");
  write("hpage_pmd_size", "2097152\n");
  write("hugepages-2048kB/enabled", "always [inherit] madvise never\n");
  const HugePages found = inspect_huge_pages(root_);
  EXPECT_EQ(found.enabled, "madvise");
  EXPECT_EQ(found.of_2m, "inherit");
  EXPECT_EQ(found.defrag, "madvise");
  EXPECT_EQ(found.bytes, 2 << 20);
  EXPECT_GE(found.ordinary_bytes, 4096);
}

TEST_F(InspectHugePages, AKernelWithoutThemHasNone) {
  const HugePages found = inspect_huge_pages(root_);
  EXPECT_EQ(found.enabled, "");
  EXPECT_EQ(found.bytes, 0);
  write("enabled", "garbage\n");
  EXPECT_EQ(inspect_huge_pages(root_).enabled, "");
}

TEST(WhyNotPages, NamesTheSettingThatForbidsThem) {
  const HugePages usual{.enabled = "madvise", .of_2m = "inherit", .bytes = 2 << 20};
  EXPECT_EQ(why_not_pages(PageSize::of_2m, usual), std::nullopt);
  const auto reason = [](const HugePages& system) {
    return why_not_pages(PageSize::of_2m, system).value_or("(none)");
  };
  EXPECT_EQ(reason({}), "pages 2m: this kernel has no transparent huge pages");
  HugePages system = usual;
  system.enabled = "never";
  EXPECT_EQ(reason(system),
            "pages 2m: /sys/kernel/mm/transparent_hugepage/enabled is never; set it to madvise or always");
  system.of_2m = "madvise";
  EXPECT_EQ(reason(system), "(none)") << "the setting for 2 MiB alone counts";
  system = usual;
  system.of_2m = "never";
  EXPECT_EQ(
      reason(system),
      "pages 2m: /sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled is never; set it to madvise "
      "or always");
  system = usual;
  system.process_may = false;
  EXPECT_NE(reason(system).find("PR_SET_THP_DISABLE"), std::string::npos) << reason(system);
  system = usual;
  system.bytes = 32 << 20;
  EXPECT_EQ(reason(system), "pages 2m: huge pages have 32768 KiB on this processor");
}

TEST(WhyNotPages, FourKiBArePossibleWhereOrdinaryPagesHaveThem) {
  EXPECT_EQ(why_not_pages(PageSize::of_4k, {}), std::nullopt);
  EXPECT_EQ(why_not_pages(PageSize::of_4k, {.enabled = "always"}), std::nullopt);
  EXPECT_EQ(why_not_pages(PageSize::of_4k, {.ordinary_bytes = 65536}),
            "pages 4k: ordinary pages have 64 KiB on this processor");
  EXPECT_EQ(why_not_pages(PageSize::standard, {.ordinary_bytes = 65536}), std::nullopt);
}

}  // namespace
}  // namespace hilbench
