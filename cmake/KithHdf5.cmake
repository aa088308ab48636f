# SPDX-License-Identifier: BSD-3-Clause
#
# HDF5: the highest version that is installed. Older ones crash on damaged files that newer ones
# refuse. Version files of all usual places are read, and HDF5_ROOT is set for find_package; an
# HDF5_ROOT of the caller's (-DHDF5_ROOT=PREFIX, or in the environment) is taken as it is.
if(NOT DEFINED HDF5_ROOT AND NOT DEFINED ENV{HDF5_ROOT} AND NOT HDF5_DIR)
    file(GLOB headers /usr/include/H5public.h /usr/include/hdf5/serial/H5public.h
         /usr/local/include/H5public.h /usr/local/*/include/H5public.h
         /usr/local/HDF_Group/HDF5/*/include/H5public.h /opt/include/H5public.h
         /opt/*/include/H5public.h /opt/*/*/include/H5public.h)
    foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
        file(GLOB more "${prefix}/include/H5public.h")
        list(APPEND headers ${more})
    endforeach()
    set(best 0)
    foreach(header IN LISTS headers)
        file(STRINGS "${header}" version REGEX "H5_VERS_INFO")
        if(version MATCHES "version: ([0-9]+\\.[0-9]+\\.[0-9]+)" AND
           CMAKE_MATCH_1 VERSION_GREATER best)
            set(best "${CMAKE_MATCH_1}")
            string(REGEX REPLACE "/include/.*" "" best_prefix "${header}")
        endif()
    endforeach()
    # FindHDF5 finds by itself what a distribution has.
    if(best VERSION_GREATER 0 AND NOT best_prefix STREQUAL "/usr")
        set(HDF5_ROOT "${best_prefix}")
    endif()
endif()
find_package(HDF5 COMPONENTS C)
if(NOT HDF5_FOUND AND best_prefix AND HDF5_ROOT STREQUAL best_prefix)
    unset(HDF5_ROOT) # headers alone
    find_package(HDF5 COMPONENTS C)
endif()
