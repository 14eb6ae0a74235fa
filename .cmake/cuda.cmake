# Decides whether CUDA code is built, and for which architectures: those of CMAKE_CUDA_ARCHITECTURES where it is given,
# else the ones from 6.1 up that the compiler knows. Sets HILBENCH_HAVE_CUDA, and the lists HILBENCH_ARCH_ANY (all),
# HILBENCH_ARCH_MMA (those from 8.0 up) and HILBENCH_ARCH_WGMMA (sm_90a); an empty list leaves its kernels out.
set(HILBENCH_HAVE_CUDA OFF)
set(HILBENCH_LIBRARY_FOLDERS "")  # where CUDA's libraries are, separated by colons
if(NOT HILBENCH_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(HILBENCH_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(HILBENCH_NVCC)
      set(CMAKE_CUDA_COMPILER ${HILBENCH_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(HILBENCH_HAVE_CUDA ON)
  elseif(HILBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HILBENCH_CUDA is ON, but no CUDA compiler was found; set CMAKE_CUDA_COMPILER or CUDACXX")
  endif()
endif()
if(NOT HILBENCH_HAVE_CUDA)
  return()
endif()

set(asked_architectures ${CMAKE_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_ARCHITECTURES OFF)  # each target names its own
if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} is of CUDA ${CMAKE_CUDA_COMPILER_VERSION}, which is too old: hilbench needs CUDA 12.0 or newer; ./quickstart.sh --cuda 12 fetches one")
endif()
find_package(CUDAToolkit REQUIRED)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The g++ for it may be older than the one that the libraries here are of. They find the newer libstdc++ when the program
  # runs; the older one, which the linker looks into, has not all that they need.
  add_link_options(LINKER:--allow-shlib-undefined)
endif()
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# What a GPU of a major version runs best or at all, as far as the compiler knows it; PTX serves later ones.
if(NOT asked_architectures)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known_code COMMAND_ERROR_IS_FATAL ANY)
  foreach(architecture 61 70 75 80 86 89 90 100 120)
    if(known_code MATCHES "sm_${architecture}[^0-9]")
      list(APPEND asked_architectures ${architecture}-real)
    endif()
  endforeach()
  list(APPEND asked_architectures 80-virtual)
endif()
# wgmma, and so the best kernel on Hopper, is code for sm_90a.
list(TRANSFORM asked_architectures REPLACE "^90$" "90a-real;90-virtual")
list(TRANSFORM asked_architectures REPLACE "^90-real$" "90a-real")
set(HILBENCH_ARCH_ANY ${asked_architectures})
set(HILBENCH_ARCH_MMA ${asked_architectures})
list(FILTER HILBENCH_ARCH_MMA EXCLUDE REGEX "^[1-7][0-9]($|-)")
set(HILBENCH_ARCH_WGMMA ${asked_architectures})
list(FILTER HILBENCH_ARCH_WGMMA INCLUDE REGEX "^90a")
set(named ${asked_architectures})
list(FILTER named EXCLUDE REGEX "^[0-9]+[af]?(-real|-virtual)?$")
if(named)
  message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: ${named}: name architectures by number, as in \"80-real;90a-real\"")
endif()
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}: architectures ${HILBENCH_ARCH_ANY}; "
               "mma ${HILBENCH_ARCH_MMA}; wgmma ${HILBENCH_ARCH_WGMMA}")

include(${CMAKE_CURRENT_LIST_DIR}/device_code.cmake)

# hilbench_cuda_objects(name ARCHITECTURES archs... SOURCES files...): CUDA code for the given architectures, or stubs of
# it (device_code.cmake). What ptxas says of each kernel is kept beside its object.
function(hilbench_cuda_objects name)
  cmake_parse_arguments(ARG "" "" "ARCHITECTURES;SOURCES" ${ARGN})
  set(sources "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    if(HILBENCH_DEVICE_STUBS AND path IN_LIST HILBENCH_TRACKED_DEVICE_SOURCES)
      hilbench_stub(source ${source})
    endif()
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT ${sources})
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${ARG_ARCHITECTURES}")
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${HILBENCH_DEVICE_OPTIONS};-Xptxas=-v>)
  set_property(TARGET ${name} PROPERTY CUDA_COMPILER_LAUNCHER
               sh ${PROJECT_SOURCE_DIR}/.cmake/keep_resource_usage.sh ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set_property(GLOBAL APPEND PROPERTY hilbench_cuda_object_targets ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC CUDA::cudart_static)
endfunction()

# hilbench_kernel_resources(output): the file `output`, with what ptxas said of the kernels defined so far, and the
# compiler, flags and sources that they are made with.
function(hilbench_kernel_resources output)
  if(HILBENCH_DEVICE_STUBS)
    file(CONFIGURE OUTPUT ${output} CONTENT
         "absent: stubs stand in for the GPU code of this build, which is as when the costs were accepted\n")
    return()
  endif()
  get_property(targets GLOBAL PROPERTY hilbench_cuda_object_targets)
  list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DCOMPILER=nvcc ${CMAKE_CUDA_COMPILER_VERSION}" "-DFLAGS=${HILBENCH_DEVICE_FLAGS}"
            "-DOBJECTS=$<JOIN:${objects},|>" -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DBINARY_DIR=${PROJECT_BINARY_DIR} -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/.cmake/kernel_resources.cmake
    DEPENDS ${objects} ${PROJECT_SOURCE_DIR}/.cmake/kernel_resources.cmake
    VERBATIM)
endfunction()

# Where to look for the libraries that the dynamic loader does not find by itself.
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
set(HILBENCH_LIBRARY_FOLDERS ${CUDAToolkit_LIBRARY_DIR})
if(CUDNN_LIBRARY)
  get_filename_component(cudnn_folder ${CUDNN_LIBRARY} DIRECTORY)
  list(APPEND HILBENCH_LIBRARY_FOLDERS ${cudnn_folder})
  list(REMOVE_DUPLICATES HILBENCH_LIBRARY_FOLDERS)
endif()
string(REPLACE ";" ":" HILBENCH_LIBRARY_FOLDERS "${HILBENCH_LIBRARY_FOLDERS}")
