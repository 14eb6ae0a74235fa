#include "harness/command_line/command_line.hpp"

int main(int argc, char** argv) {
  return hilbench::run_command_line(argc, argv);
}
