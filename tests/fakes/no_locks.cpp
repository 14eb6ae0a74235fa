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

// Both names of one call.
#define WITHOUT_LOCKS(name)                                     \
  int name(int descriptor, int command, ...) {                  \
    va_list arguments;                                          \
    va_start(arguments, command);                               \
    void* const argument = va_arg(arguments, void*);            \
    va_end(arguments);                                          \
    return without_locks(#name, descriptor, command, argument); \
  }
WITHOUT_LOCKS(fcntl)
WITHOUT_LOCKS(fcntl64)

#ifndef FLOCK_WORKS
int flock(int, int) {
  errno = ENOLCK;
  return -1;
}
#endif
}
