# Shortens compilation; what is computed and measured stays the same.

# Headers that most files of these libraries include are read once. The libraries below them include them seldom.
# Every file still includes what it uses: CI builds once with CMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
function(hilbench_precompile_library_headers)
  target_link_libraries(hilbench_reports PRIVATE hilbench_precompiled)
  target_precompile_headers(hilbench_reports PRIVATE <fmt/format.h> <nlohmann/json.hpp>)
  foreach(library counters harness commands)
    target_link_libraries(hilbench_${library} PRIVATE hilbench_precompiled)
    target_precompile_headers(hilbench_${library} REUSE_FROM hilbench_reports)
  endforeach()
endfunction()

# What ccache needs to find objects made with a precompiled header again. Clang's must not hold the time it was made.
add_library(hilbench_precompiled INTERFACE)
target_compile_options(hilbench_precompiled INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
