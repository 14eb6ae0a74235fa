#include "kernels/base/process/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

void close_end(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

std::string read_all(int fd) {
  std::string text;
  char chunk[65536];
  for (;;) {
    const ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot read from a pipe");
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno("cannot write to a pipe");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

Pipe::Pipe() {
  if (::pipe2(ends_, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
}

Pipe::~Pipe() {
  close_read();
  close_write();
}

void Pipe::close_read() {
  close_end(ends_[0]);
}
void Pipe::close_write() {
  close_end(ends_[1]);
}

}  // namespace hilbench
