# SPDX-License-Identifier: BSD-3-Clause
#
# kith_hip: the GPU sources by hipcc, for AMD's gfx90a. Compiled so that they stay portable; nothing
# links them yet. By commands, as CMake's HIP language does not find Debian 12's compiler.
find_program(KITH_HIPCC hipcc)
find_path(KITH_HIP_INCLUDE hip/hip_runtime_api.h PATHS /opt/rocm/include)
mark_as_advanced(KITH_HIPCC KITH_HIP_INCLUDE)
if(NOT KITH_HIPCC OR NOT KITH_HIP_INCLUDE)
    return()
endif()

# Contraction is off for the whole file: the _rn intrinsics do not forbid it here as in CUDA. Loops
# that hold votes are not unrolled, which clang says each time. The run-time's header comes first,
# as with nvcc; {0} is all zero, and a parameter may be for CUDA alone.
set(hip_flags -include hip/hip_runtime.h -std=c++17 -O0 -ffp-contract=off -Wall -Wextra
              -Wno-pass-failed -Wno-missing-field-initializers
              -Wno-unused-parameter)
if(KITH_WERROR)
    list(APPEND hip_flags -Werror)
endif()
file(GLOB hip_kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*/gpu/*.cu")
file(GLOB hip_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.h"
     "${PROJECT_SOURCE_DIR}/include/kith/*.h"
     "${PROJECT_SOURCE_DIR}/src/*/*.h" "${PROJECT_SOURCE_DIR}/src/*/gpu/*.h"
     "${PROJECT_SOURCE_DIR}/src/*/gpu/*.cuh")
foreach(kernel IN LISTS hip_kernels)
    get_filename_component(name "${kernel}" NAME_WE)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/hip_${name}.o")
    add_custom_command(OUTPUT "${object}"
        COMMAND "${KITH_HIPCC}" --offload-arch=gfx90a ${hip_flags} -D__HIP_PLATFORM_AMD__
                "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/threads"
                "-I${PROJECT_SOURCE_DIR}/src"
                -x hip -c "${kernel}" -o "${object}"
        DEPENDS "${kernel}" ${hip_headers}
        COMMENT "Building hip_${name}.o for gfx90a"
        VERBATIM)
    list(APPEND hip_objects "${object}")
endforeach()

file(GLOB hip_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*/gpu/*.c")
add_library(kith_hip_host OBJECT EXCLUDE_FROM_ALL ${hip_sources})
target_compile_definitions(kith_hip_host PRIVATE __HIP_PLATFORM_AMD__)
target_include_directories(kith_hip_host PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                                 "${PROJECT_SOURCE_DIR}/threads"
                                                 "${PROJECT_SOURCE_DIR}/src")
target_include_directories(kith_hip_host SYSTEM PRIVATE "${KITH_HIP_INCLUDE}")
target_link_libraries(kith_hip_host PRIVATE kith_flags)
add_custom_target(kith_hip DEPENDS ${hip_objects})
add_dependencies(kith_hip kith_hip_host)
