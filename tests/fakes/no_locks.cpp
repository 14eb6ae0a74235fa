// Preloaded, it makes every lock of a file fail as on a file system that has none.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include <cstdarg>

namespace {

using Fcntl = int (*)(int, int, void*);

int without_locks(const char* name, int descriptor, int command, void* argument) {
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
    errno = ENOLCK;
    return -1;
  }
  return reinterpret_cast<Fcntl>(dlsym(RTLD_NEXT, name))(descriptor, command, argument);
}

}  // namespace

extern "C" {

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return without_locks("fcntl", descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return without_locks("fcntl64", descriptor, command, argument);
}

#ifndef FLOCK_WORKS
int flock(int, int) {
  errno = ENOLCK;
  return -1;
}
#endif
}
