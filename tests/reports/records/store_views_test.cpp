#include "reports/records/store_views.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/base/files/files.hpp"
#include "reports/records/store.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

Record make_record() {
  Record record{{.variant = {KernelChoice{.name = "dilated"}}, .case_id = "n8", .kernel = "dilated_cpu"}};
  record.sweep = "test";
  record.variant_id = "dilated/linear";
  record.reference = "dilated/linear";
  record.threads = 1;
  record.verify = {.before = {.max_abs = 1e-6, .rows = 1, .tolerance = 1e-5}};
  record.time = {.median_ns = 2, .ci_ns = {1, 3}, .samples_ns = {1, 2, 3}, .process_rounds = {3}};
  record.environment = {
      {"host", {{"cpu", "x"}}},
      {"device", {{"name", "NVIDIA Test"}}},
      {"device_state", {{"driver", "580"}, {"power_limit_w", 700}, {"sm_mhz", {1200, 1980}}}},
      {"time", "2026-01-01T00:00:00Z"}};
  return record;
}

class StoreViews : public testing::Test {
 protected:
  void SetUp() override {
    Store store = Store::open_for_writing(folder_.path());
    store.set_meta("hostname", "node-7");
    store.commit("n8", {}, {make_record()});
  }
  fs::path file() const { return folder_.path() / "results.sqlite"; }
  std::string value(const std::string& sql) {
    SqliteConnection db(file(), OpenMode::existing, 0);
    for (const int option :
         {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})  // as other programs
      EXPECT_EQ(sqlite3_db_config(db.get(), option, 1, nullptr), SQLITE_OK);
    return db.value(sql).value_or("no row");
  }
  void execute(const std::string& sql) { SqliteConnection(file(), OpenMode::existing, 0).execute(sql); }
  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder_;
};

TEST_F(StoreViews, HaveARowForEachRecordAndSample) {
  EXPECT_EQ(value("SELECT count(*) FROM results"), "1");
  EXPECT_EQ(value("SELECT variant_id || sweep || kernel || order_name || reference FROM results"),
            "dilated/lineartestdilated_cpulineardilated/linear");
  EXPECT_EQ(value("SELECT time_low_ns + time_median_ns + time_high_ns FROM results"), "6.0");
  EXPECT_EQ(
      value("SELECT gpu_name || gpu_driver || gpu_power_limit_w || gpu_sm_mhz_most || hostname FROM results"),
      "NVIDIA Test5807001980node-7");
  EXPECT_EQ(value("SELECT measured_at FROM results"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(value("SELECT group_concat(process || '.' || round || '=' || time_ns) FROM samples"),
            "0.0=1.0,0.1=2.0,0.2=3.0");
}

TEST_F(StoreViews, AreMadeForAnOlderStoreThatIsOpenedForWriting) {
  execute("DROP VIEW results; DROP VIEW samples; CREATE VIEW samples AS SELECT 1");
  EXPECT_EQ(Store::open_for_reading(folder_.path()).records().size(), 1u);
  EXPECT_EQ(value("SELECT count(*) FROM sqlite_master WHERE name = 'results'"), "0");
  Store::open_for_writing(folder_.path());
  EXPECT_EQ(value("SELECT count(*) FROM results"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM samples"), "3");
}

// Of a store that a stranger sends.
TEST_F(StoreViews, AreNeverRead) {
  execute(
      "DROP VIEW results; CREATE VIEW results AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
      "SELECT * FROM n");
  EXPECT_EQ(Store::open_for_reading(folder_.path()).records().size(), 1u);
  Store::open_for_writing(folder_.path());
  EXPECT_EQ(value("SELECT count(*) FROM results"), "1");
}

TEST_F(StoreViews, StayAsTheyAre) {
  const std::string before = bytes();
  Store::open_for_writing(folder_.path());
  EXPECT_EQ(bytes(), before);
}

TEST_F(StoreViews, AreThereAfterErasing) {
  Store::open_for_writing(folder_.path()).erase_all();
  EXPECT_EQ(value("SELECT count(*) FROM results"), "0");
}

}  // namespace
}  // namespace hilbench
