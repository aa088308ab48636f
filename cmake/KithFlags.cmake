# SPDX-License-Identifier: BSD-3-Clause
#
# kith_flags: what every C file of the project is compiled with. Only flags that keep the value of
# every operation: the definition of a pair is rounded step by step on all processors. They undo
# -ffast-math of CMAKE_C_FLAGS, which a project that has kith as a part may set for its own files;
# at the link that flag would add code that rounds subnormal numbers to 0 in the whole process.
# Nothing here reads errno after a root; gcc would call the function for it. -fno-fast-math comes
# first, as it resets the choice about errno.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_UNITY_BUILD OFF) # static functions of several files have one name

add_library(kith_flags INTERFACE)
target_compile_definitions(kith_flags INTERFACE _GNU_SOURCE)
target_compile_options(kith_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wstrict-prototypes;-Wvla
    -Wmissing-prototypes;-Wpointer-arith;-Wcast-qual;-Wwrite-strings;-Wundef
    -fno-fast-math;-fno-math-errno;-ffp-contract=off>
    $<$<AND:$<BOOL:${KITH_WERROR}>,$<COMPILE_LANGUAGE:C>>:-Werror>)

target_link_options(kith_flags INTERFACE $<$<LINK_LANGUAGE:C>:-fno-fast-math>)

# The bytes of what is released do not depend on the folder or the time of the build. Debug
# information of optimised code names sources by their path in the tree, and archives have no times.
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    set(with_debug_information RelWithDebInfo)
    if(CMAKE_C_FLAGS MATCHES "(^| )-g")
        list(APPEND with_debug_information Release MinSizeRel)
    endif()
    set(maps "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" NORMALIZE build_is_inside)
    if(NOT build_is_inside)
        list(APPEND maps "-ffile-prefix-map=${PROJECT_BINARY_DIR}=./build")
    endif()
    list(JOIN with_debug_information "," configurations)
    target_compile_options(kith_flags INTERFACE
        "$<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:${configurations}>>:${maps}>")
endif()
if(NOT APPLE) # whose ar has no option D
    set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
    set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
    set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
endif()

get_directory_property(options COMPILE_OPTIONS)
if(KITH_HAVE_CUDA AND "${CMAKE_CUDA_FLAGS};${options}" MATCHES "use_fast_math") # cannot be undone
    message(FATAL_ERROR "kith on a GPU must not be compiled with --use_fast_math, which is in "
            "CMAKE_CUDA_FLAGS or in the options of the project: give it to your own targets")
endif()

if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Wide vectors are passed between functions of one file alone, so it does not matter how.
    # -Os does not inline what shows that variables are set.
    target_compile_options(kith_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-Wno-psabi>
        $<$<AND:$<CONFIG:MinSizeRel>,$<COMPILE_LANGUAGE:C>>:-Wno-maybe-uninitialized>)
endif()

# What counted sources are compiled with: those of the library and the command. Not optimised, so
# that each branch of the source is one of the program; threads may not lose counts. always_inline
# has no effect: each copy of a function with a constant argument would count as a function of its
# own, in which half of the branches on that argument cannot be taken.
set(KITH_COUNTED "")
if(KITH_COVERAGE)
    set(KITH_COUNTED -O0 --coverage -fprofile-update=atomic -Dalways_inline=unused)
    add_link_options(--coverage)
endif()

# Sanitizers go to every target, or their run-time libraries disagree.
if(KITH_SANITIZE)
    set(flags -fsanitize=${KITH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:${flags}>")
    add_link_options(-fsanitize=${KITH_SANITIZE})
endif()
if(KITH_SANITIZE MATCHES "thread") # what it would take for a race reads one by one
    target_compile_definitions(kith_flags INTERFACE KITH_THREAD_SANITIZER)
endif()
if(KITH_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "KITH_FUZZ needs clang: use the preset fuzz")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
