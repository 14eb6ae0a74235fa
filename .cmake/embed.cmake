# hilbench_embed(target name file [BYTES]): defines `std::string_view hilbench::embedded_<name>()`, the text of `file`, or
# any BYTES, so that the program needs no files of its own at run time. The source that uses the text declares the function.
function(hilbench_embed target name file)
  set(form text)
  if("BYTES" IN_LIST ARGN)
    set(form bytes)
  endif()
  get_filename_component(source ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFORM=${form} -DSOURCE=${source} -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/.cmake/embed_script.cmake
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/.cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
