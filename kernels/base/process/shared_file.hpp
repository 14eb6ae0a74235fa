// A file that exists only in memory. Other processes of this user open it by its path. It disappears with the
// last process that has it open, however that process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hilbench {

// Every function throws EnvironmentError if a system call fails.
class SharedFile {
 public:
  explicit SharedFile(const char* name);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  std::string path() const;
  std::size_t bytes() const;
  void write(const void* from, std::size_t bytes);
  // From now on no process can change it, whatever its rights.
  void seal();
  // Reads floats, starting at float number `first`.
  void read(std::int64_t first, std::span<float> to) const;

 private:
  int fd_;
};

}  // namespace hilbench
