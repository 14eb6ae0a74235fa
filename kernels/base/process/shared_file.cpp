#include "kernels/base/process/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kernels/base/text/error.hpp"

namespace hilbench {
SharedFile::SharedFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0) throw_errno("cannot make a file in memory");
}

SharedFile::~SharedFile() {
  ::close(fd_);
}

std::string SharedFile::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_);
}

std::size_t SharedFile::bytes() const {
  struct stat status = {};
  if (::fstat(fd_, &status) != 0) throw_errno("cannot see a file in memory");
  return static_cast<std::size_t>(status.st_size);
}

void SharedFile::write(const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put = ::write(fd_, static_cast<const char*>(from) + done, bytes - done);
    if (put < 0 && errno != EINTR) throw_errno("cannot write to a file in memory");
    if (put > 0) done += static_cast<std::size_t>(put);
  }
}

void SharedFile::seal() {
  if (::fcntl(fd_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    throw_errno("cannot seal a file in memory");
}

void SharedFile::read(std::int64_t first, std::span<float> to) const {
  const std::size_t begin = static_cast<std::size_t>(first) * sizeof(float);
  for (std::size_t done = 0; done < to.size_bytes();) {
    const ssize_t got = ::pread(fd_, reinterpret_cast<char*>(to.data()) + done, to.size_bytes() - done,
                                static_cast<off_t>(begin + done));
    if (got == 0)
      throw EnvironmentError({.what = "a file in memory became shorter while it was read",
                              .why = "who wrote it has cut it off"});
    if (got < 0 && errno != EINTR) throw_errno("cannot read a file in memory");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
}

}  // namespace hilbench
