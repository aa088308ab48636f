# SPDX-License-Identifier: BSD-3-Clause
#
# cmake --install, whole or by components. `headers` and `command` need `library`; the others stand
# alone (docs/library.md):
#   library   the shared library
#   headers   headers, the sources of the Fortran module and of the transport over MPI, the static
#             library, what CMake and pkg-config need to find them
#   command   the command kith, its benchmark, man pages and completion
#   doc       documents, examples, README, CHANGELOG and licence
#   io        libkith-io, which reads files for the Python package
#   mpi       libkith-openmpi and libkith-mpich, where an MPI was found
#   python    the shared libraries and the command, where the Python package looks for them
#             (pyproject.toml)
# A build of static libraries alone has no component library.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kith")
set(doc_dir "${CMAKE_INSTALL_DOCDIR}")
if(NOT PROJECT_IS_TOP_LEVEL) # CMAKE_INSTALL_DOCDIR is then the folder of the parent's documents
    set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/kith")
endif()

install(TARGETS kith EXPORT kith
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                COMPONENT library NAMELINK_COMPONENT headers)
install(TARGETS kith_static EXPORT kith
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT headers)
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT headers
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES mpi/kith_mpi.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT headers)
install(FILES fortran/kith.f90 mpi/transport_mpi.c
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/kith" COMPONENT headers)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${doc_dir}" COMPONENT doc)
install(DIRECTORY docs/ DESTINATION "${doc_dir}/docs" COMPONENT doc
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(DIRECTORY examples/ DESTINATION "${doc_dir}/examples" COMPONENT doc
        PATTERN CMakeLists.txt EXCLUDE)

install(EXPORT kith NAMESPACE kith:: FILE kithTargets.cmake DESTINATION "${package_dir}"
        COMPONENT headers)
configure_package_config_file(cmake/kithConfig.cmake.in kithConfig.cmake
    INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(kithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kithConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/kithConfigVersion.cmake" DESTINATION "${package_dir}"
        COMPONENT headers)

# kith.pc finds its prefix from its own place, so that the tree may be moved; but for /usr, of which
# pkg-config leaves out the paths that compilers search anyway, if they are written as such. Where
# there is the static library alone, every program needs the libraries that it needs.
file(RELATIVE_PATH pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_prefix "\${pcfiledir}/${pc_to_prefix}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(pc_prefix /usr)
endif()
list(TRANSFORM KITH_PRIVATE_LIBS PREPEND "-l" REGEX "^[^/]" OUTPUT_VARIABLE pc_private)
list(JOIN pc_private " " pc_private)
set(pc_public "")
if(NOT KITH_HAVE_SHARED)
    set(pc_public " ${pc_private}")
    set(pc_private "")
endif()
configure_file(cmake/kith.pc.in kith.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kith.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT headers)

foreach(mpi IN LISTS KITH_MPIS)
    install(TARGETS kith_${mpi} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi)
endforeach()

# What wheels carry. pip builds the target kith_python, then installs the component python.
set(KITH_PYTHON_PACKAGE kith CACHE STRING "The Python package that libkith is installed into")
mark_as_advanced(KITH_PYTHON_PACKAGE)
set(soname "so.${PROJECT_VERSION_MAJOR}")
add_custom_target(kith_python)
if(KITH_HAVE_SHARED)
    add_dependencies(kith_python kith)
    install(FILES "$<TARGET_FILE:kith>" DESTINATION ${KITH_PYTHON_PACKAGE}/lib
            RENAME libkith.${soname} COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(KITH_HAVE_IO_SHARED)
    install(TARGETS kith_io_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT io
            NAMELINK_SKIP)
    add_dependencies(kith_python kith_io_shared)
    install(FILES web/shaders.js web/bodies.js web/scene.js web/input.js web/cell.js
            DESTINATION kith/web COMPONENT python EXCLUDE_FROM_ALL)
    install(FILES python/kith_command.py DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
    install(FILES "$<TARGET_FILE:kith_io_shared>" DESTINATION ${KITH_PYTHON_PACKAGE}/lib
            RENAME libkith-io.${soname} COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(TARGET kith_cli AND KITH_HAVE_SHARED)
    kith_link_again(kith_cli python ../lib)
    set_target_properties(kith_cli_python PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(kith_python kith_cli_python)
    install(PROGRAMS "$<TARGET_FILE:kith_cli_python>" DESTINATION ${KITH_PYTHON_PACKAGE}/bin
            RENAME kith COMPONENT python EXCLUDE_FROM_ALL)
endif()
