// A library that loads and has none of the functions that it is loaded for.
extern "C" int hilbench_stub_of_a_library() {
  return 0;
}
