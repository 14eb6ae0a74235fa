// A file in memory alone: other processes of this user open it by its path, and it is gone with the last of
// them, however they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hilbench {

// Every function throws EnvironmentError if the system refuses.
class SharedFile {
 public:
  explicit SharedFile(const char* name);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  std::string path() const;
  std::size_t bytes() const;
  void write(const void* from, std::size_t bytes);
  // Floats from number `first` on.
  void read(std::int64_t first, std::span<float> to) const;

 private:
  int fd_;
};

}  // namespace hilbench
