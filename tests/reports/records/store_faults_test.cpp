// Stores that are damaged, of others, or on a disk that is full.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <random>

#include "kernels/base/text/error.hpp"
#include "reports/records/sqlite.hpp"
#include "tests/reports/records/store_in_folder.hpp"

namespace hilbench {
namespace {

class StoreFaults : public StoreInFolder {};

TEST_F(StoreFaults, RefusesARecordThatContradictsItself) {
  std::vector<Record> records = make_comparison("a");
  records[1].time->median_ns *= 2;
  Store::open_for_writing(folder_).commit("a", {}, records);
  const std::string message = message_of<UsageError>([&] { Store::open_for_reading(folder_).records(); });
  EXPECT_NE(message.find("a/dilated/order1): its median is 202 ns, that of its samples 101 ns"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(file().string()), std::string::npos) << message;
}

TEST_F(StoreFaults, AMessageShowsTheBeginningOfAStatement) {
  SqliteConnection db(root_ / "x.sqlite", OpenMode::create, 0);
  const std::string statement = "SELECT 1" + std::string(5000, ' ') + "wrong wrong";
  const std::string message = message_of<SqliteError>([&] { db.execute(statement); });
  EXPECT_LT(message.size(), 200u) << message;
  EXPECT_NE(message.find("in 'SELECT 1"), std::string::npos) << message;
}

TEST_F(StoreFaults, RefusesAComparisonOfAnImpossibleNumberOfProcesses) {
  Store store = Store::open_for_writing(folder_);
  for (const std::int64_t processes : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    store.commit("a", {"f", processes}, make_comparison("a"));
    const std::string message = message_of<UsageError>([&] { store.comparison("a"); });
    EXPECT_NE(message.find(fmt::format("a is of {} processes", processes)), std::string::npos) << message;
  }
}

TEST_F(StoreFaults, FolderThatCannotBeMadeIsAUsageError) {
  std::ofstream(root_ / "plain") << "x";
  EXPECT_THROW((void)Store::open_for_writing(root_ / "plain" / "below"), UsageError);
  EXPECT_THROW((void)Store::open_for_writing(root_ / "plain"), UsageError);
  EXPECT_THROW((void)Store::open_for_writing("/proc/hilbench"), UsageError);
}

TEST_F(StoreFaults, GarbageIsRefusedAndLeftAlone) {
  std::string garbage(20'000, '\0');
  std::mt19937 engine(1);
  for (char& byte : garbage) byte = static_cast<char>(engine());
  write_file(garbage);
  EXPECT_NE(message_of<UsageError>([&] { (void)Store::open_for_writing(folder_); }).find("not a store"),
            std::string::npos);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_EQ(fs::file_size(file()), garbage.size());
}

TEST_F(StoreFaults, EmptyFileIsNoStoreToReadButABeginningToWrite) {
  write_file("");
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
  EXPECT_NO_THROW((void)Store::open_for_writing(folder_));
  EXPECT_NO_THROW((void)Store::open_for_reading(folder_));
}

TEST_F(StoreFaults, DatabaseOfAnotherProgramIsRefused) {
  fs::create_directories(folder_);
  SqliteConnection(file(), OpenMode::create, 0).execute("CREATE TABLE theirs(x)");
  EXPECT_THROW((void)Store::open_for_writing(folder_), UsageError);
  EXPECT_THROW((void)Store::open_for_reading(folder_), UsageError);
}

TEST_F(StoreFaults, NewerSchemaIsNamed) {
  (void)Store::open_for_writing(folder_);
  SqliteConnection(file(), OpenMode::existing, 0).execute("PRAGMA user_version = 3");
  for (const auto open : {&Store::open_for_writing, &Store::open_for_reading}) {
    const std::string message = message_of<UsageError>([&] { (void)open(folder_, 0); });
    EXPECT_NE(message.find("newer hilbench (schema 3, this one knows 2)"), std::string::npos) << message;
    EXPECT_NE(message.find("use that version"), std::string::npos);
  }
}

// What a stranger's store may hold besides: it would hang a reader, or change rows when a run resumes.
TEST_F(StoreFaults, RefusesWhatNoStoreHolds) {
  const std::string endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
  const std::string record =
      "id INTEGER PRIMARY KEY, comparison_id INTEGER REFERENCES comparison(id), case_id "
      "TEXT, variant_id TEXT, twin INTEGER, kind TEXT, status TEXT, reason TEXT, time_median_ns REAL, "
      "environment_id INTEGER REFERENCES environment(id), json TEXT";
  const std::vector<std::pair<std::string, std::string>> planted = {
      {"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record WHERE id < new.id; END",
       "its trigger 't'"},
      {"DROP TABLE meta; CREATE VIEW meta AS " + endless + "SELECT 'a' || x AS key, x AS value FROM n",
       "its view 'meta'"},
      {"DROP TABLE comparison; CREATE VIEW comparison AS " + endless + "SELECT x AS id FROM n",
       "its view 'comparison'"},
      {"CREATE TABLE theirs(x)", "its table 'theirs'"},
      {"CREATE INDEX i ON record(json)", "its index 'i'"},
      {"CREATE VIRTUAL TABLE f USING fts5(x)", "its table 'f'"},
      {"ALTER TABLE record ADD COLUMN more TEXT", "its table record has other columns"},
      {"DROP TABLE record; CREATE TABLE record(" + record + " AS (hex(zeroblob(1e9))))",
       "its table record has other columns"},
      {"DROP TABLE record; CREATE TABLE record(" + record + ", CHECK (length(hex(zeroblob(1e9))) > 0))",
       "its table record has other columns"},
  };
  const std::vector<Record> records = make_comparison("a");
  for (const auto& [sql, why] : planted) {
    SCOPED_TRACE(sql);
    fs::remove_all(folder_);
    Store::open_for_writing(folder_).commit("a", {"f", 1}, records);
    SqliteConnection(file(), OpenMode::existing, 0).execute(sql);
    for (const auto open : {&Store::open_for_writing, &Store::open_for_reading}) {
      const std::string message = message_of<UsageError>([&] { (void)open(folder_, 0); });
      EXPECT_NE(message.find("not a store that hilbench wrote"), std::string::npos) << message;
      EXPECT_NE(message.find(why), std::string::npos) << message;
    }
  }
}

TEST_F(StoreFaults, ALostTableIsDamage) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  SqliteConnection(file(), OpenMode::existing, 0).execute("DROP TABLE record");
  const std::string message = message_of<UsageError>([&] { (void)Store::open_for_reading(folder_); });
  EXPECT_NE(message.find("the store is damaged"), std::string::npos) << message;
  EXPECT_NE(message.find("it has no table record"), std::string::npos) << message;
}

TEST_F(StoreFaults, TruncatedAtAnyPageIsRefused) {
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

TEST_F(StoreFaults, FlippedBytesNeverCrash) {
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

TEST_F(StoreFaults, FullDiskAtCreationIsAnEnvironmentErrorAndLeavesNothing) {
  EXPECT_EQ(on_full_disk(2048, [&] { (void)Store::open_for_writing(folder_); }), 4);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(StoreFaults, NoDescriptorLeftIsAnEnvironmentError) {
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

TEST_F(StoreFaults, StoreThatAnotherProgramHoldsIsAnEnvironmentError) {
  (void)Store::open_for_writing(folder_);
  SqliteConnection other(file(), OpenMode::existing, 0);
  other.execute("BEGIN EXCLUSIVE");
  EXPECT_NE(message_of<EnvironmentError>([&] {
              (void)Store::open_for_reading(folder_, 200);
            }).find("another program"),
            std::string::npos);
}

TEST_F(StoreFaults, LinkToNothingIsRefusedAndStays) {
  fs::create_directories(folder_);
  fs::create_symlink(root_ / "nosuch" / "file", file());
  EXPECT_NE(message_of<UsageError>([&] {
              (void)Store::open_for_writing(folder_);
            }).find("a link to a file that does not exist"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(file()));
}

TEST_F(StoreFaults, WhatIsNoFileIsRefusedAndStays) {
  for (const char* target : {"/dev/zero", "/dev/full", "/proc", ""}) {
    std::filesystem::create_directories(folder_);
    if (*target == '\0')
      ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
    else
      std::filesystem::create_symlink(target, file());
    for (const auto& open : {&Store::open_for_writing, &Store::open_for_reading}) {
      const std::string message = message_of<UsageError>([&] { open(folder_, 100); });
      EXPECT_NE(message.find("no file"), std::string::npos) << target << message;
    }
    EXPECT_TRUE(std::filesystem::remove(file())) << target;
  }
}

TEST_F(StoreFaults, LostEnvironmentIsDamage) {
  Store::open_for_writing(folder_).commit("a", {"f", 1}, make_comparison("a"));
  SqliteConnection(file(), OpenMode::existing, 0).execute("DELETE FROM environment");
  const Store store = Store::open_for_reading(folder_);
  EXPECT_NE(message_of<UsageError>([&] { (void)store.records(); }).find("the store is damaged"),
            std::string::npos);
  EXPECT_THROW((void)store.records_of("a"), UsageError);
}

TEST_F(StoreFaults, FullDiskLaterIsAnEnvironmentErrorAndKeepsWhatWasCommitted) {
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

TEST_F(StoreFaults, StoreRemovedWhileOpenIsAnEnvironmentError) {
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

TEST_F(StoreFaults, KilledAtAnyMomentHoldsWholeComparisonsOnly) {
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
