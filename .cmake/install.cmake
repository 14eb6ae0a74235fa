# What `cmake --install` puts where: the program, its sweeps with their schema, the header for kernels of users, the
# claims, the pages, the man page and the completion of bash. The last two are made by the program itself, from the
# texts of --help. The component `development` is the header alone.
include(GNUInstallDirs)
if(SKBUILD)  # pip: the program among the scripts, the rest below the environment's own folder
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_DATADIR ${SKBUILD_DATA_DIR}/share)
  set(CMAKE_INSTALL_MANDIR ${CMAKE_INSTALL_DATADIR}/man)
  set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/hilbench)
endif()

if(HILBENCH_DEVICE_STUBS)
  install(CODE "message(FATAL_ERROR \"this build has stubs of the GPU code: configure it with -DHILBENCH_DEVICE_CODE=COMPILED\")")
endif()
install(TARGETS hilbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY sweeps DESTINATION ${CMAKE_INSTALL_DATADIR}/hilbench)
install(FILES kernels/plugin/kernel.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hilbench COMPONENT development)
install(FILES reports/claims/claims.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/hilbench)
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(CODE "set(HILBENCH_PROGRAM \"$<TARGET_FILE:hilbench>\")\nset(HILBENCH_TEXTS \"${PROJECT_BINARY_DIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/.cmake/describe_commands.cmake)
install(FILES ${PROJECT_BINARY_DIR}/hilbench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/hilbench.bash RENAME hilbench
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
