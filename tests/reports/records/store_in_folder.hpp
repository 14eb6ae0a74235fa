// Stores that tests write, each in a folder of its own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "kernels/base/files/files.hpp"
#include "reports/records/store.hpp"

namespace hilbench {

namespace fs = std::filesystem;

// Each test has its own folder, which is removed afterwards.
class StoreInFolder : public testing::Test {
 protected:
  void TearDown() override {  // a test may have made it read-only
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, fs::perm_options::replace, ignored);
  }
  fs::path file() const { return folder_ / "results.sqlite"; }
  void write_file(std::string_view content) {
    fs::create_directories(folder_);
    std::ofstream(file(), std::ios::binary) << content;
  }

  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
  const fs::path folder_ = root_ / "results";
};

inline Record make_record(const std::string& case_id, const std::string& order, double median_ns = 100) {
  Record record{{.variant = {KernelChoice{.name = "dilated", .order = order}}, .case_id = case_id}};
  record.sweep = "test";
  record.work.device = DeviceKind::cpu;
  record.variant_id = variant_id(record.variant);
  record.kernel = "dilated_cpu";
  record.threads = 1;
  record.verify = {.before = {.max_abs = 1e-6, .rows = 1, .tolerance = 1e-5}};
  record.time = {.median_ns = median_ns, .samples_ns = {median_ns}, .process_rounds = {1}};
  record.environment = {{"host", {{"cpu", "x"}, {"load_average", {median_ns, 0, 0}}}},
                        {"build", {{"commit", nullptr}}},
                        {"device", nullptr},
                        {"time", fmt::format("2026-01-01T00:00:{}Z", median_ns)}};
  return record;
}
inline std::vector<Record> make_comparison(const std::string& case_id, int variants = 3) {
  std::vector<Record> records;
  for (int i = 0; i < variants; ++i)
    records.push_back(make_record(case_id, fmt::format("order{}", i), 100 + i));
  return records;
}

inline nlohmann::json to_json(const std::vector<Record>& records) {
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

}  // namespace hilbench
