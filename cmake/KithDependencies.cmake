# SPDX-License-Identifier: BSD-3-Clause
#
# What the build can use. All is optional: what is missing is left out, and KithSummary says so.
find_package(OpenMP COMPONENTS C)
find_package(HDF5 COMPONENTS C)
find_package(Python3 COMPONENTS Interpreter)
find_package(PkgConfig)
if(PkgConfig_FOUND)
    pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
    pkg_check_modules(CAIRO IMPORTED_TARGET cairo)
endif()

# KITH_HAVE_CUDA: a compiler is there and so is something for it to compile.
set(KITH_HAVE_CUDA OFF)
file(GLOB gpu_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/gpu/*.cu")
if(gpu_sources AND NOT KITH_CUDA STREQUAL "OFF")
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80 90)
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
        set(KITH_HAVE_CUDA ON)
    elseif(KITH_CUDA STREQUAL "ON")
        message(FATAL_ERROR "KITH_CUDA is ON, but no CUDA compiler works; set CMAKE_CUDA_COMPILER")
    endif()
endif()
