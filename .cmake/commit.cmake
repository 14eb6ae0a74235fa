# hilbench_commit(variable): the checkout's commit, `-dirty` where it has changes, "unknown" outside git.
# A new commit makes CMake configure again.
function(hilbench_commit variable)
  set(${variable} unknown PARENT_SCOPE)
  find_program(GIT_PROGRAM git)
  if(NOT GIT_PROGRAM OR NOT EXISTS ${PROJECT_SOURCE_DIR}/.git)
    return()
  endif()
  execute_process(COMMAND ${GIT_PROGRAM} describe --always --dirty --match=NONE --abbrev=7
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    return()
  endif()
  execute_process(COMMAND ${GIT_PROGRAM} rev-parse --git-path logs/HEAD
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(EXISTS ${log})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
  endif()
  set(${variable} ${commit} PARENT_SCOPE)
endfunction()
