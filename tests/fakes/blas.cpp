// An OpenBLAS that hangs while it is loaded.
#include <unistd.h>

namespace {

[[gnu::constructor]] void hang() {
  for (;;) ::pause();
}

}  // namespace
