# SPDX-License-Identifier: BSD-3-Clause
#
# kith_install_program(target destination)
# Install a program that finds libkith.so by a path relative to itself, wherever the tree is moved.
#
# The program is linked a second time, with the RUNPATH of the installed tree. CMake would otherwise
# edit the RUNPATH of the built program during installation, and for that it pads the RUNPATH with
# trailing colons. An empty entry of a RUNPATH is the working directory: a library planted there
# would be loaded. tests/package/runpath.py checks everything that is built.
function(kith_install_program target destination)
    if(NOT KITH_INSTALL)
        return()
    endif()
    get_filename_component(folder "${destination}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
    file(RELATIVE_PATH to_library "${folder}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    kith_link_again(${target} installed "${to_library}")
    install(TARGETS ${target}_installed DESTINATION "${destination}" COMPONENT command)
endfunction()

# kith_link_again(target suffix to_library)
# Add the target ${target}_${suffix}: the program, which finds libkith.so in the folder to_library,
# relative to its own folder.
function(kith_link_again target suffix to_library)
    set(again ${target}_${suffix})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(name ${target} OUTPUT_NAME)
    if(NOT name)
        set(name ${target})
    endif()
    set(beside "$ORIGIN")
    if(APPLE)
        set(beside "@loader_path")
    endif()
    add_executable(${again} $<TARGET_OBJECTS:${target}>)
    target_link_libraries(${again} PRIVATE ${libraries})
    set_target_properties(${again} PROPERTIES
        LINKER_LANGUAGE C
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${suffix}"
        BUILD_WITH_INSTALL_RPATH ON
        INSTALL_RPATH "${beside}/${to_library}"
        INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
