# SPDX-License-Identifier: BSD-3-Clause
#
# Say what was found, and what its absence leaves out.
function(kith_say found name with without)
    if(${found})
        message(STATUS "  ${name} ${with}")
    else()
        message(STATUS "  ${name} not found: ${without}")
    endif()
endfunction()

message(STATUS "kith ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
               "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, CPU code for ${KITH_ISAS}")
kith_say(HDF5_FOUND     "HDF5   " "${HDF5_VERSION}" "no HDF5 files")
kith_say(JANSSON_FOUND  "jansson" "${JANSSON_VERSION}" "the command is left out")
kith_say(CAIRO_FOUND    "cairo  " "${CAIRO_VERSION}" "no pictures")
kith_say(PNG_FOUND      "libpng " "${PNG_VERSION}" "films need ffmpeg, no PNG frames")
kith_say(CIVETWEB_FOUND "civetweb" "" "no live view")
kith_say(Python3_FOUND  "Python " "${Python3_VERSION}" "tests that need it are left out")
if(KITH_CUDA STREQUAL "OFF")
    message(STATUS "  CUDA    switched off: CPU backends only")
elseif(NOT gpu_sources)
    message(STATUS "  CUDA    no GPU sources here: CPU backends only")
else()
    kith_say(KITH_HAVE_CUDA "CUDA   "
        "${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}"
        "CPU backends only")
endif()
