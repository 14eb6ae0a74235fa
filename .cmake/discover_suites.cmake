# Writes the CTest entries of one GoogleTest program, one for each suite: the part of a test's name before the dot;
# instances with parameters or types are part of their suite. A process for each test would cost more than most tests.
#   cmake -D PROGRAM=... -D TARGET=... -D FILTER=... -D PROPERTIES=... -D OUTPUT=... -P discover_suites.cmake
cmake_minimum_required(VERSION 3.22)

execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER}
                OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests (${status}):\n${listed}")
endif()

# "Everywhere/Windows." and "Windows/0.  # TypeParam = float" are of the suite Windows.
string(REGEX MATCHALL "\n[A-Za-z_][A-Za-z_0-9/]*\\." lines "\n${listed}")
set(suites)
foreach(line IN LISTS lines)
  string(STRIP "${line}" pattern)
  string(REGEX REPLACE "(/[0-9]+)?\\.$" "" suite "${pattern}")
  string(REGEX REPLACE "^.*/" "" suite "${suite}")
  list(APPEND suites ${suite})
  list(APPEND patterns_${suite} "${pattern}*")
endforeach()
list(REMOVE_DUPLICATES suites)

string(REGEX MATCH "-.*" left_out "${FILTER}")
# A suite counts as skipped if all of its tests are: GoogleTest's last lines are then these.
set(all_skipped [=[\[  PASSED  \] 0 tests\.
\[  SKIPPED \] [0-9]+ tests?, listed below:
(\[  SKIPPED \] [^
]*
)+$]=])
set(entries)
foreach(suite IN LISTS suites)
  list(JOIN patterns_${suite} ":" filter)
  string(APPEND entries "add_test(${TARGET}.${suite} [==[${PROGRAM}]==] [==[--gtest_filter=${filter}${left_out}]==])\n"
         "set_tests_properties(${TARGET}.${suite} PROPERTIES SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==]")
  foreach(word IN LISTS PROPERTIES)
    string(APPEND entries " [==[${word}]==]")
  endforeach()
  string(APPEND entries ")\n")
endforeach()
file(WRITE ${OUTPUT} "${entries}")
