# cmake -DSOURCE=CHECKOUT -DFROM=TEMPLATE -DTO=FILE -P commit.cmake: FILE is TEMPLATE with the checkout's commit for
# @HILBENCH_COMMIT@: `-dirty` where it has changes, "unknown" outside git. A FILE that says so already stays as it is.
set(HILBENCH_COMMIT unknown)
find_program(GIT_PROGRAM git)
if(GIT_PROGRAM AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT_PROGRAM} describe --always --dirty --match=NONE --abbrev=7
                  WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(HILBENCH_COMMIT ${commit})
  endif()
endif()
configure_file(${FROM} ${TO} @ONLY)
