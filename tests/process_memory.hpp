// The memory of the test program, and limits on it as `ulimit -v` sets them.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace hilbench {

// Bytes of this process: all that it has mapped, and those in memory.
struct ProcessBytes {
  std::uint64_t mapped = 0, resident = 0;
};
inline ProcessBytes process_bytes() {
  std::ifstream statm("/proc/self/statm");  // in pages
  ProcessBytes bytes;
  statm >> bytes.mapped >> bytes.resident;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {bytes.mapped * page, bytes.resident * page};
}

// While it lives, the process can map only this many bytes more. Of no use under sanitizers, which map more
// than any limit allows.
class AddressLimit {
 public:
  explicit AddressLimit(std::uint64_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    const rlimit tight{process_bytes().mapped + more, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

}  // namespace hilbench
