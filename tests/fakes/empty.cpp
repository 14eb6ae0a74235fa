// A library that can be loaded but has none of the expected functions.
extern "C" int hilbench_stub_of_a_library() {
  return 0;
}
