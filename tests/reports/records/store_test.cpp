#include "reports/records/store.hpp"

#include <grp.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "reports/records/sqlite.hpp"
#include "tests/reports/records/store_in_folder.hpp"

namespace hilbench {
namespace {

class StoreTest : public StoreInFolder {};

TEST_F(StoreTest, GivesBackWhatWasCommittedInItsOrder) {
  const std::vector<Record> first = make_comparison("b"), second = make_comparison("a");
  {
    Store store = Store::open_for_writing(folder_);
    store.set_meta("sweep", "x");
    store.set_meta("sweep", "quick");
    store.commit("b", {"f1", 1}, first);
    store.commit("a", {"f2", 1}, second);
    EXPECT_EQ(store.comparison("b")->fingerprint, "f1");
    EXPECT_FALSE(store.comparison("c"));
    store.finish();
  }
  const Store store = Store::open_for_reading(folder_);
  std::vector<Record> both = first;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(to_json(store.records()), to_json(both));
  EXPECT_EQ(to_json(store.records_of("a")), to_json(second));
  EXPECT_EQ(store.meta().at("sweep"), "quick");
  EXPECT_EQ(store.meta().at("schema"), std::to_string(kStoreSchema));
}

TEST_F(StoreTest, ReplacesTheComparisonOfACase) {
  Store store = Store::open_for_writing(folder_);
  store.commit("a", {"old", 1}, make_comparison("a", 5));
  store.commit("a", {"new", 1}, make_comparison("a", 2));
  EXPECT_EQ(store.records().size(), 2u);
  EXPECT_EQ(store.comparison("a")->fingerprint, "new");
}

TEST_F(StoreTest, ResumesAndErases) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  {
    Store store = Store::open_for_writing(folder_);
    EXPECT_EQ(store.comparison("a")->fingerprint, "f");
    store.set_meta("title", "t");
    store.erase_all();
    EXPECT_TRUE(store.records().empty());
    EXPECT_FALSE(store.comparison("a"));
  }
  EXPECT_EQ(Store::open_for_reading(folder_).meta().size(), 1u);
}

TEST_F(StoreTest, SharesEqualEnvironmentsAndKeepsWhatVaries) {
  Store store = Store::open_for_writing(folder_);
  store.commit("a", {"f", 1}, make_comparison("a"));
  store.commit("b", {"f", 1}, make_comparison("b"));
  Record other = make_record("c", "linear");
  (*other.environment)["host"]["cpu"] = "y";
  store.commit("c", {"f", 1}, {other});
  SqliteConnection db(file(), OpenMode::existing, 1000);
  EXPECT_EQ(db.value("SELECT count(*) FROM environment"), "2");
  EXPECT_EQ(*store.records().back().environment, *other.environment);
  store.commit("c", {"f", 1}, {make_record("c", "linear")});
  store.finish();
  EXPECT_EQ(db.value("SELECT count(*) FROM environment"), "1");
}

TEST_F(StoreTest, KeepsTextThatIsNotUtf8Readable) {
  Store store = Store::open_for_writing(folder_);
  Record record = make_record("a", "linear");
  record.status = Status::failed;
  record.reason = "worker said \xff\xfe";
  store.commit("a", {"f", 1}, {record});
  EXPECT_EQ(store.records().at(0).reason.substr(0, 12), "worker said ");
}

TEST_F(StoreTest, FinishLeavesOneFile) {
  Store store = Store::open_for_writing(folder_);
  store.commit("a", {"f", 1}, make_comparison("a"));
  store.finish();
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) files += entry.path() == file() ? 1 : 100;
  EXPECT_EQ(files, 1);
}

TEST_F(StoreTest, SecondWriterIsRefusedUntilTheFirstIsGone) {
  {
    const Store first = Store::open_for_writing(folder_);
    const std::string message = message_of<UsageError>([&] { (void)Store::open_for_writing(folder_); });
    EXPECT_NE(message.find("another hilbench"), std::string::npos) << message;
    EXPECT_EQ(in_child([&] {
                try {
                  (void)Store::open_for_writing(folder_);
                } catch (const UsageError&) {
                  return 2;
                }
                return 0;
              }),
              2);
  }
  EXPECT_NO_THROW((void)Store::open_for_writing(folder_));
}

TEST_F(StoreTest, ForkedChildThatEndsDoesNotReleaseTheLock) {
  const Store first = Store::open_for_writing(folder_);
  EXPECT_EQ(in_child([] { return 0; }), 0);
  EXPECT_THROW((void)Store::open_for_writing(folder_), UsageError);
}

TEST_F(StoreTest, ReadsWhileAnotherProcessWrites) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  const pid_t writer = fork();
  if (writer == 0) {
    try {
      Store store = Store::open_for_writing(folder_);
      for (;;) {
        store.commit("a", {"f", 1}, make_comparison("a"));
        usleep(1000);  // locks of SQLite are not fair: without a pause a reader may wait forever
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "writer: %s\n", error.what());
      _exit(1);
    }
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Store::open_for_reading(folder_).records().size(), 3u);
  kill(writer, SIGKILL);
  int status = 0;
  waitpid(writer, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer gave up";
}

TEST_F(StoreTest, ReadsFromAReadOnlyFolder) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  fs::permissions(root_, fs::perms(0755));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_EQ(in_child([&] {
              // Permissions do not apply to root.
              if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
                return 98;
              if (access(folder_.c_str(), W_OK) == 0) return 97;
              if (Store::open_for_reading(folder_).records().size() != 3) return 1;
              try {
                (void)Store::open_for_writing(folder_);
              } catch (const EnvironmentError& error) {
                return std::string(error.what()).find("cannot write") != std::string::npos ? 0 : 2;
              }
              return 3;
            }),
            0);
}

TEST_F(StoreTest, ReadingWhereNothingIsWritesNothing) {
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_FALSE(fs::exists(folder_));
  fs::create_directories(folder_);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(StoreTest, ComparisonsKeepTheirPlaceWhenTheyAreCommittedAgain) {
  Store store = Store::open_for_writing(folder_);
  for (const char* id : {"b", "a", "b"}) store.commit(id, {"f", 1}, make_comparison(id, 1));
  ASSERT_EQ(store.records().size(), 2u);
  EXPECT_EQ(store.records().front().case_id, "b");
}

}  // namespace
}  // namespace hilbench
