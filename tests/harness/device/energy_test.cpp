#include "harness/device/energy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// A folder like /sys/class/powercap.
class Rapl : public testing::Test {
 protected:
  ~Rapl() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void zone(const std::string& zone, const std::string& name, const std::string& energy) const {
    fs::create_directories(folder_ / zone);
    std::ofstream(folder_ / zone / "name") << name << "\n";
    std::ofstream(folder_ / zone / "energy_uj") << energy << "\n";
    std::ofstream(folder_ / zone / "max_energy_range_uj") << "262143328850\n";
  }
  EnergyReading read() const { return read_rapl(folder_); }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("rapl_" + std::to_string(::getpid()));
};

TEST_F(Rapl, AddsUpPackagesAndNothingTwice) {
  zone("intel-rapl:0", "package-0", "5000000");
  zone("intel-rapl:1", "package-1", "100");
  zone("intel-rapl:2", "psys", "77");
  zone("intel-rapl:0:0", "core", "88");
  zone("intel-rapl-mmio:0", "package-0", "5000000");
  const EnergyReading before = read();
  EXPECT_EQ(before.source, "rapl");
  EXPECT_EQ(before.reason, "");
  ASSERT_EQ(before.counts.size(), 2u);
  EXPECT_EQ(before.counts[0].wraps_at, 262143328850u);
  zone("intel-rapl:0", "package-0", "6500000");
  zone("intel-rapl:1", "package-1", "500100");
  EXPECT_DOUBLE_EQ(*energy_between(before, read(), 2).joules, 2.0);
}

TEST_F(Rapl, SaysWhyItGivesNothing) {
  EXPECT_NE(read().reason.find("this machine shows no energy counter"), std::string::npos) << read().reason;
  zone("intel-rapl:0", "package-0", "lots");
  EXPECT_NE(read().reason.find("energy_uj holds no number"), std::string::npos) << read().reason;
  fs::remove(folder_ / "intel-rapl:0" / "energy_uj");
  EXPECT_NE(read().reason.find("cannot read"), std::string::npos) << read().reason;
  EXPECT_TRUE(read().counts.empty());
  EXPECT_EQ(energy_between(read(), read(), 1).reason, read().reason);
}

TEST_F(Rapl, SaysThatItMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  zone("intel-rapl:0", "package-0", "1");
  fs::permissions(folder_ / "intel-rapl:0" / "energy_uj", fs::perms::none);
  EXPECT_NE(read().reason.find("Permission denied; only root may"), std::string::npos) << read().reason;
}

EnergyReading at(std::uint64_t microjoules, std::uint64_t wraps_at = 0) {
  return {.counts = {{.microjoules = microjoules, .wraps_at = wraps_at}}, .source = "fake"};
}

TEST(Energy, IsTheDifferenceOfTwoReadings) {
  EXPECT_DOUBLE_EQ(*energy_between(at(1000), at(3001000), 2).joules, 3);
}

TEST(Energy, CountsOverTheEndOfACounter) {
  const std::uint64_t range = 65'000'000'000;
  EXPECT_DOUBLE_EQ(*energy_between(at(range - 1'000'000, range), at(500'000, range), 2).joules, 1.5);
  const EnergyUse twice = energy_between(at(1, range), at(2, range), 100);
  EXPECT_FALSE(twice.joules);
  EXPECT_EQ(twice.reason, "the energy counter may have wrapped twice in 100 s");
}

TEST(Energy, IsNeverZeroOrNegative) {
  EXPECT_EQ(energy_between(at(5), at(5), 2).reason, "the energy counter stood still");
  EXPECT_EQ(energy_between(at(5), at(4), 2).reason, "the energy counter ran backwards");
  EXPECT_FALSE(energy_between(at(5), at(5), 2).joules);
  EXPECT_EQ(energy_between(at(5), {}, 2).reason, "the energy counters changed meanwhile");
}

}  // namespace
}  // namespace hilbench
