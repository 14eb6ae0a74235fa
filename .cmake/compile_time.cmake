# Shortens compilation; what is computed and measured stays the same.
option(HILBENCH_UNITY "Compile the sources of a folder as one: faster from nothing, slower after a change" OFF)

# GCC collects garbage less often: a tenth of the time of a unit that uses much memory, for up to 0.4 GB more of it.
target_compile_options(hilbench_options INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")

# Headers that most files include are read once for all libraries with the same flags. Every file still includes what it
# uses: CI builds once with CMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
# JSON is among them only for sources that are compiled as one: a folder uses it more often than not, a file seldom, and
# to load it costs a file half a second.
set(HILBENCH_PRECOMPILED
    <fmt/format.h> <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <vector>)
if(HILBENCH_UNITY)
  list(APPEND HILBENCH_PRECOMPILED <nlohmann/json.hpp>)
endif()
file(WRITE ${PROJECT_BINARY_DIR}/headers.cpp "// Only the precompiled headers of this target are used.\n")
# hilbench_precompile(name libraries... OPTIONS options...): adds the options to the libraries, and the target `name` that
# owns their headers.
function(hilbench_precompile name)
  cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(${name} PRIVATE
    hilbench_options hilbench_precompiled fmt::fmt nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX)
  target_precompile_headers(${name} PRIVATE ${HILBENCH_PRECOMPILED})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  foreach(library IN LISTS ARG_UNPARSED_ARGUMENTS)
    target_compile_options(${library} PRIVATE ${ARG_OPTIONS})
    target_link_libraries(${library} PRIVATE hilbench_precompiled)
    target_precompile_headers(${library} REUSE_FROM ${name})
  endforeach()
endfunction()

# What ccache needs to find objects made with a precompiled header again. Clang's must not hold the time it was made.
add_library(hilbench_precompiled INTERFACE)
target_compile_options(hilbench_precompiled INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# With HILBENCH_UNITY, which quickstart.sh, test.sh and the sanitizers' presets set, the sources of a folder are compiled
# as one: their headers are read once, and what they instantiate is compiled once. Names in anonymous namespaces therefore
# differ within a folder. Compiled alone: the folders EXCEPT, sources that Highway includes once for each target, sources
# with flags of their own, and those that test programs replace (hilbench_replaced_by_tests). PARTS: into how many units a
# folder goes, so that several cores share one that takes long.
function(hilbench_unity_of_folders target)
  cmake_parse_arguments(ARG "" "PARTS" "EXCEPT" ${ARGN})
  if(NOT ARG_PARTS)
    set(ARG_PARTS 1)
  endif()
  set(count 0)
  if(NOT HILBENCH_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(target_folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<TARGET_OBJECTS")
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${target_folder})
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated)
      set(group generated)
    else()
      file(STRINGS ${source} once_a_target REGEX "foreach_target" LIMIT_COUNT 1)
      if(once_a_target)
        continue()
      endif()
      get_filename_component(folder ${source} DIRECTORY)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
      if(folder IN_LIST ARG_EXCEPT)
        continue()
      endif()
      math(EXPR part "${count} % ${ARG_PARTS}")
      math(EXPR count "${count} + 1")
      string(MAKE_C_IDENTIFIER ${folder}_${part} group)
    endif()
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# hilbench_replaced_by_tests(sources...): each stays an object of its own, which the linker leaves out of a program that
# defines the same functions.
function(hilbench_replaced_by_tests)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# hilbench_check_syntax(name source like): the target `name` reads `source` as the sources of the target `like` are
# compiled, which takes a fraction of the time, and makes nothing of it.
function(hilbench_check_syntax name source like)
  add_library(${name} OBJECT ${source})
  target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:${like},COMPILE_OPTIONS>)
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:${like},COMPILE_DEFINITIONS>)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:${like},INCLUDE_DIRECTORIES>)
  set_property(TARGET ${name} PROPERTY CXX_COMPILER_LAUNCHER sh ${PROJECT_SOURCE_DIR}/.cmake/check_syntax.sh)
endfunction()
