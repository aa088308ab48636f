# SPDX-License-Identifier: BSD-3-Clause
#
# Read KITH_HEADER_VERSION from include/kith/core.h, and see that the header agrees with itself.
set(header "${CMAKE_CURRENT_SOURCE_DIR}/include/kith/core.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")

file(STRINGS "${header}" lines REGEX "^#define KITH_VERSION")
foreach(part MAJOR MINOR PATCH)
    if(NOT lines MATCHES "KITH_VERSION_${part} ([0-9]+)")
        message(FATAL_ERROR "include/kith/core.h does not define KITH_VERSION_${part}")
    endif()
    list(APPEND parts ${CMAKE_MATCH_1})
endforeach()
list(JOIN parts "." KITH_HEADER_VERSION)

if(NOT lines MATCHES "KITH_VERSION \"${KITH_HEADER_VERSION}\"")
    message(FATAL_ERROR "include/kith/core.h: KITH_VERSION is not \"${KITH_HEADER_VERSION}\", "
                        "what its MAJOR, MINOR and PATCH say")
endif()
