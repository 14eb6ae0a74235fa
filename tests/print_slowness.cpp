// Prints how slow this machine is, for tests in other languages.
#include <fmt/format.h>

#include "tests/slowness.hpp"

int main() {
  fmt::print("{}\n", hilbench::slowness());
}
