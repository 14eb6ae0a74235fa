# Sanitizers for every target, as HILBENCH_SANITIZE names them, and the settings that their tests run with.
if(NOT HILBENCH_SANITIZE)
  return()
endif()
target_compile_options(hilbench_options INTERFACE -fsanitize=${HILBENCH_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
# The address sanitizer sees most of what these two see, and a sixth of the compile time is theirs.
if(HILBENCH_SANITIZE MATCHES "undefined" AND HILBENCH_SANITIZE MATCHES "address")
  target_compile_options(hilbench_options INTERFACE -fno-sanitize=null,object-size)
endif()
# Programs at a fixed place in memory: what sanitizers print has a million addresses, and each start of a program that
# may lie anywhere would write them all.
set(shared $<IN_LIST:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY$<SEMICOLON>MODULE_LIBRARY>)
target_compile_options(hilbench_options INTERFACE $<$<NOT:${shared}>:-fno-pie>)
target_link_options(hilbench_options INTERFACE -fsanitize=${HILBENCH_SANITIZE} $<$<NOT:${shared}>:-no-pie>)
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES Clang)  # links in a third of the time of GNU's linker
  target_link_options(hilbench_options INTERFACE -fuse-ld=lld)
endif()
# Where the compiler is GCC 12, Highway falls back to its target SCALAR, elsewhere to EMU128. The library of Debian is
# built with GCC 12; and EMU128 takes a sanitizer half a minute a file.
target_compile_definitions(hilbench_options INTERFACE HWY_BROKEN_EMU128=1)

# CTest reads this file before it runs the tests. Archer tells the thread sanitizer how LLVM's OpenMP synchronises.
if(HILBENCH_SANITIZE STREQUAL "thread")
  get_filename_component(compiler_folder ${CMAKE_CXX_COMPILER} REALPATH)
  get_filename_component(compiler_folder ${compiler_folder} DIRECTORY)
  find_library(ARCHER_LIBRARY archer HINTS ${compiler_folder}/../lib REQUIRED)
  set(settings "set(ENV{TSAN_OPTIONS} ignore_noninstrumented_modules=1)\nset(ENV{OMP_TOOL_LIBRARIES} \"${ARCHER_LIBRARY}\")\n")
else()
  # Eight calls tell where memory came from; with thirty, the tests of rings take a sixth longer.
  set(settings "set(ENV{ASAN_OPTIONS} detect_leaks=1:malloc_context_size=8)\nset(ENV{UBSAN_OPTIONS} print_stacktrace=1)\n")
endif()
file(WRITE ${PROJECT_BINARY_DIR}/sanitizer_settings.cmake ${settings})
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${PROJECT_BINARY_DIR}/sanitizer_settings.cmake)
