// Ranks as threads of a test.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// Runs each rank's part in a thread of its own; returns what each threw, "" for nothing.
inline std::vector<std::string> run_ranks(int ranks, const std::function<void(int rank)>& part) {
  std::vector<std::string> errors(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        part(rank);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  threads.clear();
  return errors;
}

inline void expect_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

}  // namespace hilbench
