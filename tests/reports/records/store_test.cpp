#include "reports/records/store.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "kernels/base/error.hpp"
#include "reports/records/sqlite.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// Each test has its own folder, which is removed afterwards.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "hilbench_store_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = root_ / "results";
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all, fs::perm_options::replace, ignored_);
    fs::remove_all(root_, ignored_);
  }
  fs::path file() const { return folder_ / "results.sqlite"; }
  void write_file(std::string_view content) {
    fs::create_directories(folder_);
    std::ofstream(file(), std::ios::binary) << content;
  }

  std::error_code ignored_;
  fs::path root_;
  fs::path folder_;
};

Record make_record(const std::string& case_id, const std::string& order, double median_ns = 100) {
  Record record{.sweep = "test", .variant = {.kernel = "dilated", .order = order}, .case_id = case_id};
  record.work.device = DeviceKind::cpu;
  record.variant_id = variant_id(record.variant);
  record.kernel = "dilated_cpu";
  record.threads = 1;
  record.verify = {.max_abs = 1e-6, .rows = 1, .tolerance = 1e-5};
  record.time = {.median_ns = median_ns, .samples_ns = {median_ns}, .process_rounds = {1}};
  record.environment = {{"host", {{"cpu", "x"}, {"load_average", {median_ns, 0, 0}}}},
                        {"build", {{"commit", nullptr}}},
                        {"device", nullptr},
                        {"time", fmt::format("2026-01-01T00:00:{}Z", median_ns)}};
  return record;
}
std::vector<Record> make_comparison(const std::string& case_id, int variants = 3) {
  std::vector<Record> records;
  for (int i = 0; i < variants; ++i)
    records.push_back(make_record(case_id, fmt::format("order{}", i), 100 + i));
  return records;
}

nlohmann::json to_json(const std::vector<Record>& records) {
  nlohmann::json all = nlohmann::json::array();
  for (const Record& record : records) all.push_back(to_json(record));
  return all;
}

template <class ErrorType, class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const ErrorType& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of the expected type was thrown";
  return "";
}

// Exit status of `body` in a forked child; 128 + signal if a signal ended it.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

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

TEST_F(StoreTest, RefusesARecordThatContradictsItself) {
  std::vector<Record> records = make_comparison("a");
  records[1].time->median_ns *= 2;
  Store::open_for_writing(folder_).commit("a", {}, records);
  const std::string message = message_of<UsageError>([&] { Store::open_for_reading(folder_).records(); });
  EXPECT_NE(message.find("a/dilated/order1): its median is 202 ns, that of its samples 101 ns"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(file().string()), std::string::npos) << message;
}

TEST_F(StoreTest, AMessageShowsTheBeginningOfAStatement) {
  SqliteConnection db(root_ / "x.sqlite", OpenMode::create, 0);
  const std::string statement = "SELECT 1" + std::string(5000, ' ') + "wrong wrong";
  const std::string message = message_of<SqliteError>([&] { db.execute(statement); });
  EXPECT_LT(message.size(), 200u) << message;
  EXPECT_NE(message.find("in 'SELECT 1"), std::string::npos) << message;
}

TEST_F(StoreTest, RefusesAComparisonOfAnImpossibleNumberOfProcesses) {
  Store store = Store::open_for_writing(folder_);
  for (const std::int64_t processes : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    store.commit("a", {"f", processes}, make_comparison("a"));
    const std::string message = message_of<UsageError>([&] { store.comparison("a"); });
    EXPECT_NE(message.find(fmt::format("a is of {} processes", processes)), std::string::npos) << message;
  }
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
  other.environment["host"]["cpu"] = "y";
  store.commit("c", {"f", 1}, {other});
  SqliteConnection db(file(), OpenMode::existing, 1000);
  EXPECT_EQ(db.value("SELECT count(*) FROM environment"), "2");
  EXPECT_EQ(store.records().back().environment, other.environment);
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

TEST_F(StoreTest, FolderThatCannotBeMadeIsAUsageError) {
  std::ofstream(root_ / "plain") << "x";
  EXPECT_THROW((void)Store::open_for_writing(root_ / "plain" / "below"), UsageError);
  EXPECT_THROW((void)Store::open_for_writing(root_ / "plain"), UsageError);
  EXPECT_THROW((void)Store::open_for_writing("/proc/hilbench"), UsageError);
}

TEST_F(StoreTest, ReadingWhereNothingIsWritesNothing) {
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_FALSE(fs::exists(folder_));
  fs::create_directories(folder_);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(StoreTest, GarbageIsRefusedAndLeftAlone) {
  std::string garbage(20'000, '\0');
  std::mt19937 engine(1);
  for (char& byte : garbage) byte = static_cast<char>(engine());
  write_file(garbage);
  EXPECT_NE(message_of<UsageError>([&] { (void)Store::open_for_writing(folder_); }).find("not a store"),
            std::string::npos);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_EQ(fs::file_size(file()), garbage.size());
}

TEST_F(StoreTest, EmptyFileIsNoStoreToReadButABeginningToWrite) {
  write_file("");
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_NO_THROW((void)Store::open_for_writing(folder_));
  EXPECT_NO_THROW((void)Store::open_for_reading(folder_));
}

TEST_F(StoreTest, DatabaseOfAnotherProgramIsRefused) {
  fs::create_directories(folder_);
  SqliteConnection(file(), OpenMode::create, 0).execute("CREATE TABLE theirs(x)");
  EXPECT_THROW((void)Store::open_for_writing(folder_), UsageError);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
}

// A store as schema 1 had it.
TEST_F(StoreTest, AnOlderSchemaIsReadAndErasedButNotWritten) {
  std::vector<Record> records = make_comparison("a");
  Store::open_for_writing(folder_).commit("a", {"f", 1}, records);
  SqliteConnection(file(), OpenMode::existing, 0)
      .execute(
          "DROP VIEW results; DROP VIEW samples;"
          "ALTER TABLE comparison DROP COLUMN processes; ALTER TABLE comparison DROP COLUMN retried;"
          "ALTER TABLE record DROP COLUMN twin; ALTER TABLE record ADD COLUMN speedup_ratio REAL;"
          "UPDATE meta SET value = '1' WHERE key = 'schema'; PRAGMA user_version = 1");
  EXPECT_EQ(Store::open_for_reading(folder_).records().size(), records.size());
  Store store = Store::open_for_writing(folder_);
  EXPECT_EQ(store.schema(), 1);
  store.erase_all();
  EXPECT_EQ(store.schema(), 2);
  store.commit("a", {"f", 2, true}, records);
  EXPECT_EQ(store.comparison("a")->processes, 2);
  EXPECT_TRUE(store.comparison("a")->retried);
}

TEST_F(StoreTest, ComparisonsKeepTheirPlaceWhenTheyAreCommittedAgain) {
  Store store = Store::open_for_writing(folder_);
  for (const char* id : {"b", "a", "b"}) store.commit(id, {"f", 1}, make_comparison(id, 1));
  ASSERT_EQ(store.records().size(), 2u);
  EXPECT_EQ(store.records().front().case_id, "b");
}

TEST_F(StoreTest, NewerSchemaIsNamed) {
  (void)Store::open_for_writing(folder_);
  SqliteConnection(file(), OpenMode::existing, 0).execute("PRAGMA user_version = 3");
  for (const auto open : {&Store::open_for_writing, &Store::open_for_reading}) {
    const std::string message = message_of<UsageError>([&] { (void)open(folder_, 0); });
    EXPECT_NE(message.find("newer hilbench (schema 3, this one knows 2)"), std::string::npos) << message;
    EXPECT_NE(message.find("use that version"), std::string::npos);
  }
}

TEST_F(StoreTest, TruncatedAtAnyPageIsRefused) {
  {
    Store store = Store::open_for_writing(folder_);
    for (int i = 0; i < 20; ++i)
      store.commit(fmt::format("c{}", i), {"f", 1}, make_comparison(fmt::format("c{}", i)));
  }
  const auto size = fs::file_size(file());
  for (const auto length : {size / 100, size / 3, size / 2, size - 1, size - 4096}) {
    fs::path copy = root_ / fmt::format("cut{}", length);
    fs::create_directories(copy);
    fs::copy_file(file(), copy / "results.sqlite");
    fs::resize_file(copy / "results.sqlite", length);
    EXPECT_THROW(
        {
          const Store store = Store::open_for_reading(copy);
          (void)store.records();
        },
        UsageError)
        << length;
  }
}

TEST_F(StoreTest, FlippedBytesNeverCrash) {
  {
    Store store = Store::open_for_writing(folder_);
    for (int i = 0; i < 5; ++i)
      store.commit(fmt::format("c{}", i), {"f", 1}, make_comparison(fmt::format("c{}", i)));
  }
  std::ifstream in(file(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::mt19937 engine(2);
  int refused = 0;
  for (int trial = 0; trial < 100; ++trial) {
    std::string torn = whole;
    const std::size_t at = engine() % (torn.size() - 512);
    for (std::size_t i = 0; i < 512; ++i) torn[at + i] = static_cast<char>(engine());
    write_file(torn);
    try {
      (void)Store::open_for_reading(folder_).records();
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

// A child whose files cannot grow beyond `bytes`, as on a full disk. 2: UsageError, 4: EnvironmentError.
template <class Body>
int on_full_disk(std::size_t bytes, const Body& body) {
  return in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 98;
    try {
      body();
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
    return 0;
  });
}

TEST_F(StoreTest, FullDiskAtCreationIsAnEnvironmentErrorAndLeavesNothing) {
  EXPECT_EQ(on_full_disk(2048, [&] { (void)Store::open_for_writing(folder_); }), 4);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(StoreTest, NoDescriptorLeftIsAnEnvironmentError) {
  if (std::string_view(HILBENCH_SANITIZE).find("undefined") != std::string_view::npos)
    GTEST_SKIP() << "this sanitizer looks at objects through descriptors of its own";
  for (const rlim_t left : {1u, 2u})
    EXPECT_EQ(in_child([&] {
                const auto next = static_cast<rlim_t>(dup(STDIN_FILENO));
                const rlimit limit{next + left, next + left};
                if (close(static_cast<int>(next)) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0) return 98;
                try {
                  (void)Store::open_for_writing(folder_);
                } catch (const Error& error) {
                  return static_cast<int>(error.code());
                }
                return 0;
              }),
              4)
        << left;
}

TEST_F(StoreTest, StoreThatAnotherProgramHoldsIsAnEnvironmentError) {
  (void)Store::open_for_writing(folder_);
  SqliteConnection other(file(), OpenMode::existing, 0);
  other.execute("BEGIN EXCLUSIVE");
  EXPECT_NE(message_of<EnvironmentError>([&] {
              (void)Store::open_for_reading(folder_, 200);
            }).find("another program"),
            std::string::npos);
}

TEST_F(StoreTest, LinkToNothingIsRefusedAndStays) {
  fs::create_directories(folder_);
  fs::create_symlink(root_ / "nosuch" / "file", file());
  EXPECT_NE(message_of<UsageError>([&] {
              (void)Store::open_for_writing(folder_);
            }).find("a link to a file that does not exist"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(file()));
}

TEST_F(StoreTest, LostEnvironmentIsDamage) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  SqliteConnection(file(), OpenMode::existing, 0).execute("DELETE FROM environment");
  const Store store = Store::open_for_reading(folder_);
  EXPECT_NE(message_of<UsageError>([&] { (void)store.records(); }).find("the store is damaged"),
            std::string::npos);
  EXPECT_THROW((void)store.records_of("a"), UsageError);
}

TEST_F(StoreTest, FullDiskLaterIsAnEnvironmentErrorAndKeepsWhatWasCommitted) {
  EXPECT_EQ(
      on_full_disk(200'000,
                   [&] {
                     Store store = Store::open_for_writing(folder_);
                     for (int i = 0; i < 10'000; ++i)
                       store.commit(fmt::format("c{}", i), {"f", 1}, make_comparison(fmt::format("c{}", i)));
                   }),
      4);
  const std::size_t records = Store::open_for_reading(folder_).records().size();
  EXPECT_GT(records, 0u);
  EXPECT_EQ(records % 3, 0u);
  EXPECT_NO_THROW((void)Store::open_for_writing(folder_));
}

TEST_F(StoreTest, StoreRemovedWhileOpenIsAnEnvironmentError) {
  Store store = Store::open_for_writing(folder_);
  store.commit("a", {"f", 1}, make_comparison("a"));
  fs::remove_all(folder_);
  EXPECT_THROW(store.commit("b", {"f", 1}, make_comparison("b")), EnvironmentError);
}

// The child commits comparisons k0, k1, ... of 1 + i % 7 records again and again until it is killed.
[[noreturn]] void commit_for_ever(const fs::path& folder) {
  Store store = Store::open_for_writing(folder);
  for (int i = 0;; ++i) {
    const std::string id = fmt::format("k{}", i % 40);
    store.commit(id, {std::to_string(1 + i % 7), 1}, make_comparison(id, 1 + i % 7));
  }
}

TEST_F(StoreTest, KilledAtAnyMomentHoldsWholeComparisonsOnly) {
  std::mt19937 engine(4);
  std::size_t largest = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const pid_t child = fork();
    if (child == 0) commit_for_ever(folder_);
    usleep(1000 + engine() % 40'000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Store store = Store::open_for_writing(folder_);
    EXPECT_EQ(SqliteConnection(file(), OpenMode::existing, 1000).value("PRAGMA integrity_check"), "ok");
    std::map<std::string, std::size_t> sizes;
    for (const Record& record : store.records()) ++sizes[record.case_id];
    for (const auto& [id, size] : sizes)
      EXPECT_EQ(store.comparison(id)->fingerprint, std::to_string(size)) << id;
    EXPECT_GE(sizes.size(), largest) << "a committed comparison was lost";
    largest = std::max(largest, sizes.size());
  }
  EXPECT_GT(largest, 0u);
}

}  // namespace
}  // namespace hilbench
