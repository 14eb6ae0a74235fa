// Prints how slow this machine is, for tests in other languages.
#include "tests/slowness.hpp"

#include <fmt/format.h>

int main() {
  fmt::print("{}\n", hilbench::slowness());
}
