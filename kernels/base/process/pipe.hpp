// Pipes, and reads and writes that do not stop halfway.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// Everything up to the end of the stream. Throws EnvironmentError.
std::string read_all(int fd);
// Writes all of `text`. Throws EnvironmentError if the other end is closed.
void write_all(int fd, std::string_view text);

// A pipe. Its ends are closed by the destructor and are not inherited by programs that are started.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read();
  void close_write();

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace hilbench
