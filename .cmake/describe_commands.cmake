# Runs at install: HILBENCH_PROGRAM writes its man page and its completion of bash into the folder HILBENCH_TEXTS.
foreach(form man bash)
  set(name hilbench.${form})
  if(form STREQUAL "man")
    set(name hilbench.1)
  endif()
  execute_process(COMMAND ${HILBENCH_PROGRAM} describe_commands ${form} OUTPUT_FILE ${HILBENCH_TEXTS}/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
