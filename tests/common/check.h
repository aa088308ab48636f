/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a test program needs to say "this must hold": silent while it does.
 */
#ifndef KITH_TEST_CHECK_H
#define KITH_TEST_CHECK_H

#include <stdbool.h>

#include "kith.h"

/** Exit status that CTest reports as skipped. */
enum { CHECK_SKIPPED = 77 };

/**
 * Say what this machine lacks, so that the test cannot run; format is printf's. The reason says how
 * to get what is missing, if it can be had.
 * @return CHECK_SKIPPED, for main() to return.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int check_skip(const char *format, ...);

/** Return true when gcc's thread sanitizer runs the program. Its run-time library ends a child of
 *  fork() that starts a thread; clang's does not. */
bool check_gcc_tsan(void);

/**
 * Count and print a failure unless cond holds; the rest is a printf format saying what went wrong.
 * The program ends after 20 failures: more would say nothing new. Yields whether cond holds.
 */
#define CHECK(cond, ...) ((cond) ? 1 : check_failed(__FILE__, __LINE__, #cond, __VA_ARGS__))

/** Print and count a failure. @return 0. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int check_failed(const char *file, int line, const char *condition, const char *format, ...);

/** Set the line that is printed before the next failure: the command that repeats the case.
 *  @param text  borrowed until the next call; NULL: none */
void check_case(const char *text);

/** Number of failures since the program started. */
int check_failures(void);

/** Exit status of the program: 0 when nothing failed. */
int check_done(void);

/**
 * Open a context. Ends the program with CHECK_SKIPPED when the backend cannot run here, and with a
 * failure for any other error.
 * @param backend  as kith_options.backend
 * @param threads  as kith_options.threads
 */
kith_ctx *check_open(const char *backend, int threads);

/** How much of the long tests to leave out, in a build that only repeats, slowly or with another
 *  compiler, what another build does in full: 0 nothing, n n cases for each that is taken and one
 *  precision of it. The environment's KITH_TEST_BRIEF says it. */
int check_brief(void);

/** By how much a test multiplies its own limits of time: 1; 4 with KITH_TEST_BRIEF, which goes with
 *  slow builds; 20 where that is above 1, and under valgrind and compute-sanitizer. These slow some
 *  operations more than others. */
int check_patience(void);

/** @return whether to run the long form of the test, which may take hours: KITH_TEST_DEEP is set in
 *  the environment. `make deep` sets it. */
bool check_deep(void);

/** The backend a test program was asked for: argv[1], or "auto" when there is none. */
const char *check_backend(int argc, char **argv);

/** malloc, ending the program when there is no memory; never NULL, also for 0 bytes. */
void *check_malloc(size_t bytes);

#endif
