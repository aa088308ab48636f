# SPDX-License-Identifier: BSD-3-Clause
#
# How tests are added. A test is a small C program: silent and 0 when it passes, a message and not 0
# when it fails, 77 when this machine cannot run it, after a line that holds "skipped: " and what is
# missing (tests/skipped.py).
set(KITH_TEST_BACKENDS cpu:baseline)
if("avx2" IN_LIST KITH_ISAS AND KITH_SANITIZE)
    set(KITH_TEST_BACKENDS cpu:avx2) # one for all: they share their source, and sanitizers are slow
elseif("avx2" IN_LIST KITH_ISAS AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    set(KITH_TEST_BACKENDS cpu) # the machine's best; gcc's build tests them all
elseif("avx2" IN_LIST KITH_ISAS)
    list(TRANSFORM KITH_ISAS PREPEND "cpu:" OUTPUT_VARIABLE KITH_TEST_BACKENDS)
endif()
if(KITH_HAVE_CUDA)
    list(APPEND KITH_TEST_BACKENDS cuda)
endif()

# What tests are told, each "NAME=value": two threads, whatever the machine has.
set(KITH_TEST_ENVIRONMENT OMP_NUM_THREADS=2)
if(KITH_SANITIZE)
    list(APPEND KITH_TEST_ENVIRONMENT KITH_TEST_BRIEF=9)
elseif(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND KITH_TEST_ENVIRONMENT KITH_TEST_BRIEF=1)
endif()
if(KITH_COVERAGE)
    # What libgcov complains of where a test takes memory or disk from it is no output of kith.
    list(APPEND KITH_TEST_ENVIRONMENT GCOV_ERROR_FILE=/dev/null)
endif()
if(KITH_TEST_DEEP)
    list(APPEND KITH_TEST_ENVIRONMENT KITH_TEST_DEEP=1)
endif()
# .ci/peers installs chemfiles there. Elsewhere the reader finds it, or not, as for any user.
file(GLOB chemfiles
     "${PROJECT_SOURCE_DIR}/build/peers/lib/python3*/site-packages/chemfiles/libchemfiles.so")
if(chemfiles)
    list(APPEND KITH_TEST_ENVIRONMENT "KITH_CHEMFILES=${chemfiles}")
endif()
if(KITH_SANITIZE MATCHES "address")
    set(leaks "${PROJECT_SOURCE_DIR}/tests/common/leaks.txt")
    list(APPEND KITH_TEST_ENVIRONMENT "LSAN_OPTIONS=print_suppressions=0:suppressions=${leaks}")
endif()
# The launchers of MPI, and their words for tests, which may run as root, on fewer cores than ranks.
find_program(KITH_RUN_OPENMPI mpirun.openmpi)
find_program(KITH_RUN_MPICH mpiexec.mpich)
mark_as_advanced(KITH_RUN_OPENMPI KITH_RUN_MPICH)
set(KITH_LAUNCH_OPENMPI --allow-run-as-root --oversubscribe)
set(KITH_LAUNCH_MPICH "")

# kith_set_test(test [LABELS label...] [TIMEOUT seconds])
# Give a test added by add_test() the properties that all share. In its long form (KITH_TEST_DEEP)
# every test may run for four hours, whatever limit its short form has.
function(kith_set_test test)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS")
    if(KITH_TEST_DEEP)
        set(arg_TIMEOUT 14400)
    elseif(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(KITH_COVERAGE OR CMAKE_CROSSCOMPILING) # not optimised, counts every branch; emulated
        math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
    endif()
    set_tests_properties(${test} PROPERTIES
        SKIP_RETURN_CODE 77
        TIMEOUT ${arg_TIMEOUT}
        COST ${arg_TIMEOUT} # what may take long begins first, and does not run alone at the end
        ENVIRONMENT "${KITH_TEST_ENVIRONMENT}"
        LABELS "${arg_LABELS}")
endfunction()

# kith_add_test(name SOURCES file... [LIBRARIES target...] [LABELS label...] [ARGS word...]
#               [BACKENDS backend... | NONE] [TIMEOUT seconds])
# Build a test program and run it once for each backend, as `program BACKEND ARGS...`; once, as
# `program ARGS...`, with BACKENDS NONE. It links kith unless LIBRARIES names kith_static.
function(kith_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;ARGS;BACKENDS")
    if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "kith_add_test(${name}): no SOURCES, or unknown words: "
                            "${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT "kith_static" IN_LIST arg_LIBRARIES)
        list(APPEND arg_LIBRARIES kith)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE kith_flags ${arg_LIBRARIES} m)
    # Helper libraries call kith without naming it, and so may stand behind it in the link line.
    target_link_options(${name} PRIVATE LINKER:--no-as-needed)

    if(NOT arg_BACKENDS)
        set(arg_BACKENDS ${KITH_TEST_BACKENDS})
    endif()
    set(timeout)
    if(arg_TIMEOUT)
        set(timeout TIMEOUT ${arg_TIMEOUT})
    endif()
    foreach(backend IN LISTS arg_BACKENDS)
        set(test ${name})
        set(labels ${arg_LABELS})
        if(backend STREQUAL "NONE")
            set(backend "")
        else()
            string(APPEND test "/${backend}")
        endif()
        if(backend MATCHES "^cuda")
            list(APPEND labels gpu)
        endif()
        add_test(NAME ${test} COMMAND ${name} ${backend} ${arg_ARGS})
        kith_set_test(${test} LABELS ${labels} ${timeout})
        if(KITH_COVERAGE) # some of the cases take every branch
            set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT KITH_TEST_BRIEF=9)
        endif()
        if(DEFINED ENV{CI} AND NOT KITH_SANITIZE AND NOT KITH_TEST_DEEP)
            # Where time is short, two vectors of one source share the long tests with the third,
            # and teams take every second input: each fill, box and number of ranks is still there.
            if(backend MATCHES "^cpu:(baseline|avx2)$")
                set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT KITH_TEST_BRIEF=1)
            elseif("team" IN_LIST labels)
                set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT KITH_TEST_BRIEF=3)
            endif()
        endif()
    endforeach()
endfunction()

# C++ tests the header kith.hpp. A compiler of another make than C's would bring another sanitizer's
# library.
include(CheckLanguage)
if(NOT KITH_SANITIZE AND NOT KITH_COVERAGE AND NOT CMAKE_CROSSCOMPILING)
    check_language(CXX)
endif()
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
endif()

# kith_set_cxx(target)
# Compile a C++ program as C++17, with warnings.
function(kith_set_cxx target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
                           $<$<BOOL:${KITH_WERROR}>:-Werror>)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
endfunction()

# The system's Python first: it has Debian's NumPy.
find_program(KITH_TEST_PYTHON python3 HINTS /usr/bin NO_CMAKE_ENVIRONMENT_PATH)

# kith_add_python_test(name script [LABELS label...] [ARGS word...])
# Run a script that imports the Python package, as `script STRUCT_LAYOUT ARGS...`. A sanitizer's
# run-time library is not in the interpreter.
function(kith_add_python_test name script)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS;ARGS")
    if(NOT KITH_TEST_PYTHON OR NOT KITH_HAVE_SHARED OR KITH_SANITIZE OR CMAKE_CROSSCOMPILING)
        return()
    endif()
    add_test(NAME ${name} COMMAND ${KITH_TEST_PYTHON} -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}"
             $<TARGET_FILE:struct_layout> ${arg_ARGS})
    kith_set_test(${name} LABELS ${arg_LABELS} python TIMEOUT 300)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                 "KITH_LIBRARY=$<TARGET_FILE:kith>"
                 "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/common:${PROJECT_SOURCE_DIR}/python")
    if(TARGET kith_io_shared)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                     "KITH_IO_LIBRARY=$<TARGET_FILE:kith_io_shared>")
    endif()
    if(TARGET kith_cli)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                     "KITH_COMMAND=$<TARGET_FILE:kith_cli>")
    endif()
endfunction()

# kith_add_fuzzer(name SOURCES file... LIBRARIES target... CORPUS folder [ARGS word...])
# Build a libFuzzer target and a test that runs its kept corpus, then new ones for six seconds.
# What it finds stays in the build folder, so that a run never changes the sources.
function(kith_add_fuzzer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LIBRARIES;ARGS")
    add_executable(${name} ${arg_SOURCES})
    if(NOT TARGET fuzzers)
        add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
    target_link_libraries(${name} PRIVATE kith_flags ${arg_LIBRARIES} m)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(found "${CMAKE_CURRENT_BINARY_DIR}/${name}.found")
    file(MAKE_DIRECTORY "${found}")
    add_test(NAME ${name} COMMAND ${name} -max_total_time=6 -timeout=10 -rss_limit_mb=2048
             "-artifact_prefix=${found}/" ${arg_ARGS} "${found}" "${arg_CORPUS}")
    kith_set_test(${name} LABELS fuzz)
endfunction()
