# SPDX-License-Identifier: BSD-3-Clause
#
# Say what was found, and what its absence leaves out.
function(kith_say option found name with without)
    if(${found})
        message(STATUS "  ${name} ${with}")
    elseif(DEFINED ${option} AND NOT ${option})
        message(STATUS "  ${name} switched off: ${without}")
    else()
        message(STATUS "  ${name} not found: ${without}")
    endif()
endfunction()

message(STATUS "kith ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
               "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, CPU code for ${KITH_ISAS}")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    message(WARNING "CMAKE_BUILD_TYPE is empty: kith is compiled without optimisation")
endif()
kith_say(KITH_CUDA KITH_HAVE_CUDA "CUDA    "
         "${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}"
         "CPU backends only")
kith_say(KITH_COMMAND KITH_HAVE_COMMAND "command " "is built" "the library alone")
if(KITH_FORTRAN OR KITH_TESTS)
    kith_say(KITH_FORTRAN KITH_HAVE_FORTRAN "Fortran " "${CMAKE_Fortran_COMPILER_VERSION}"
             "the Fortran module is not compiled")
endif()
if(KITH_OPENMPI OR KITH_MPICH OR KITH_HAVE_COMMAND OR KITH_TESTS)
    kith_say(KITH_OPENMPI  OPENMPI_FOUND  "Open MPI" "${OPENMPI_VERSION}" "no libkith-openmpi")
    kith_say(KITH_MPICH    MPICH_FOUND    "MPICH   " "${MPICH_VERSION}" "no libkith-mpich")
endif()
if(KITH_HAVE_COMMAND OR KITH_TESTS OR KITH_IO)
    kith_say(KITH_HDF5     HDF5_FOUND     "HDF5    " "${HDF5_VERSION}" "no HDF5 files")
    kith_say(KITH_ZLIB     ZLIB_FOUND     "zlib    " "${ZLIB_VERSION_STRING}"
             "compressed HDF5 files are read by one thread")
endif()
if(KITH_HAVE_COMMAND OR KITH_TESTS)
    kith_say(KITH_JANSSON  JANSSON_FOUND  "jansson " "${JANSSON_VERSION}"
             "no command, no benchmark")
    kith_say(KITH_CAIRO    CAIRO_FOUND    "cairo   " "${CAIRO_VERSION}" "no pictures")
    kith_say(KITH_PNG      PNG_FOUND      "libpng  " "${PNG_VERSION}"
             "films need ffmpeg, no PNG frames")
    kith_say(KITH_CIVETWEB CIVETWEB_FOUND "civetweb" "found" "no live view")
endif()
if(KITH_TESTS)
    kith_say(KITH_TESTS KITH_TEST_PYTHON "Python  " "${KITH_TEST_PYTHON}"
             "tests that need it are left out")
endif()
