#include <cstdio>

int main() {
  std::puts("hilbench");
  return 0;
}
