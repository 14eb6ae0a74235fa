# Decides whether the GPU code (the .cu files) is compiled, or replaced by stubs that refuse to launch.
#
# GPU code takes long to compile. What ptxas says of it is tracked in sweeps/ci.costs.json,
# with the compiler, its flags and a hash of each file that the code is made of. With HILBENCH_DEVICE_CODE=IF_CHANGED,
# which `./test.sh` sets on a machine without a GPU, stubs stand in as long as all of this is equal: the tracked costs
# then hold. Sources that are not tracked are compiled. What the host compiler builds is compiled in any case.
set(HILBENCH_DEVICE_CODE "COMPILED" CACHE STRING "GPU code: COMPILED, or IF_CHANGED (stubs while it is as tracked)")
set_property(CACHE HILBENCH_DEVICE_CODE PROPERTY STRINGS COMPILED IF_CHANGED)
set(HILBENCH_DEVICE_STUBS OFF)
set(HILBENCH_DEVICE_FLAGS "")       # of the compiler of GPU code, with the architectures
set(HILBENCH_TRACKED_DEVICE_SOURCES "")  # files that the tracked GPU code is made of
if(NOT HILBENCH_DEVICE_CODE MATCHES "^(COMPILED|IF_CHANGED)$")
  message(FATAL_ERROR "HILBENCH_DEVICE_CODE is ${HILBENCH_DEVICE_CODE}; it is COMPILED or IF_CHANGED")
endif()
if(NOT HILBENCH_HAVE_CUDA)
  return()
endif()

set(HILBENCH_DEVICE_OPTIONS -O3 --expt-relaxed-constexpr -lineinfo)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
  # Code for eight architectures in the space of two. Its drivers, 580 and newer, unpack it when a kernel is loaded.
  list(APPEND HILBENCH_DEVICE_OPTIONS --compress-mode=size)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
list(JOIN HILBENCH_DEVICE_OPTIONS " " options)
string(REPLACE ";" " " architectures "any ${HILBENCH_ARCH_ANY}, mma ${HILBENCH_ARCH_MMA}, wgmma ${HILBENCH_ARCH_WGMMA}")
set(HILBENCH_DEVICE_FLAGS "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${build_type}} ${options}: ${architectures}")
string(REGEX REPLACE "  +" " " HILBENCH_DEVICE_FLAGS "${HILBENCH_DEVICE_FLAGS}")
string(STRIP "${HILBENCH_DEVICE_FLAGS}" HILBENCH_DEVICE_FLAGS)

# hilbench_device_code_change(variable): what first differs from the tracked GPU code; empty if nothing does.
function(hilbench_device_code_change variable)
  set(tracked ${PROJECT_SOURCE_DIR}/sweeps/ci.costs.json)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tracked})
  set(${variable} "no ${tracked}" PARENT_SCOPE)
  if(NOT EXISTS ${tracked})
    return()
  endif()
  file(READ ${tracked} text)
  string(JSON code ERROR_VARIABLE failure GET "${text}" device_code)
  string(JSON count ERROR_VARIABLE failure LENGTH "${code}" sources)
  if(failure OR count EQUAL 0)
    set(${variable} "${tracked} has no device_code: ${failure}" PARENT_SCOPE)
    return()
  endif()
  set(change "")
  foreach(name compiler flags)
    set(here "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
    if(name STREQUAL "flags")
      set(here "${HILBENCH_DEVICE_FLAGS}")
    endif()
    string(JSON there ERROR_VARIABLE failure GET "${code}" ${name})
    if(NOT change AND NOT there STREQUAL here)
      set(change "the ${name} '${here}' (tracked: '${there}')")
    endif()
  endforeach()
  set(sources "")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON source MEMBER "${code}" sources ${i})
    string(JSON there GET "${code}" sources ${source})
    list(APPEND sources ${source})
    set(here "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/${source})
      file(SHA256 ${PROJECT_SOURCE_DIR}/${source} here)
    endif()
    if(NOT change AND NOT here STREQUAL there)
      set(change ${source})
    endif()
  endforeach()
  set(HILBENCH_TRACKED_DEVICE_SOURCES ${sources} PARENT_SCOPE)
  set(${variable} "${change}" PARENT_SCOPE)
endfunction()

if(HILBENCH_DEVICE_CODE STREQUAL "IF_CHANGED")
  find_package(Python3 COMPONENTS Interpreter)  # writes the stubs
  hilbench_device_code_change(change)
  if(change)
    message(STATUS "GPU code is compiled; changed: ${change}")
  elseif(NOT Python3_FOUND)
    message(STATUS "GPU code is compiled: no python3 to write stubs")
  else()
    set(HILBENCH_DEVICE_STUBS ON)
    message(STATUS "GPU code is as tracked in sweeps/ci.costs.json: stubs stand in for it")
  endif()
  # An edit of one of them decides anew.
  list(TRANSFORM HILBENCH_TRACKED_DEVICE_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE inputs)
  foreach(input IN LISTS inputs)
    if(EXISTS ${input})
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${input})
    endif()
  endforeach()
endif()

# hilbench_stub(output source): a file that defines the functions of `source`, each of which throws.
function(hilbench_stub output source)
  get_filename_component(path ${source} ABSOLUTE)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
  string(REPLACE "/" "_" stub ${name})
  set(stub ${CMAKE_CURRENT_BINARY_DIR}/${stub}.stub.cpp)
  add_custom_command(
    OUTPUT ${stub}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/.cmake/stub.py ${PROJECT_SOURCE_DIR} ${name} ${stub}
    DEPENDS ${path} ${PROJECT_SOURCE_DIR}/.cmake/stub.py
    VERBATIM)
  set(${output} ${stub} PARENT_SCOPE)
endfunction()
