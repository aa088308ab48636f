# SPDX-License-Identifier: BSD-3-Clause
#
# cmake --install: the library, its headers, what pkg-config and CMake need to find them, the
# command (installed by cli/) and the examples.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kith")

install(TARGETS kith kith_static EXPORT kith)
install(FILES include/kith.h include/kith_debye.h include/kith_glance.h include/kith_overlap.h
              include/kith_waves.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
        PATTERN CMakeLists.txt EXCLUDE)

install(EXPORT kith NAMESPACE kith:: FILE kithTargets.cmake DESTINATION "${package_dir}")
configure_package_config_file(cmake/kithConfig.cmake.in kithConfig.cmake
    INSTALL_DESTINATION "${package_dir}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(kithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kithConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/kithConfigVersion.cmake" DESTINATION "${package_dir}")

# kith.pc finds its prefix from its own place, so that the tree may be moved.
file(RELATIVE_PATH pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
list(TRANSFORM KITH_PRIVATE_LIBS PREPEND "-l" REGEX "^[^/]" OUTPUT_VARIABLE pc_private)
list(JOIN pc_private " " pc_private)
configure_file(cmake/kith.pc.in kith.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kith.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
