/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of the libraries that read and write files for kith: HDF5 and chemfiles. Both can crash on
 * a damaged file. A handler of crashes finds out here whether a thread was within such a call, and
 * what to say then.
 */
#ifndef KITH_IO_FOREIGN_H
#define KITH_IO_FOREIGN_H

#include <signal.h>
#include <stdbool.h>

/** What this thread has foreign code do. Safe to read in a handler of signals. */
typedef struct io_foreign {
    volatile sig_atomic_t inside; /**< a call is under way */
    int length;                   /**< of text [bytes] */
    char text[1600];              /**< what to print if it crashes: file and library */
} io_foreign;

extern _Thread_local io_foreign io_foreign_calls;

/** From now on calls of this thread work on this file. @param library  its name and version */
void io_foreign_file(const char *library, const char *path);

/** Evaluate a call of a foreign library that returns a value. Not to be nested. */
#define IO_FOREIGN(call) \
    __extension__({ \
        io_foreign_calls.inside = true; \
        const __auto_type returned_ = (call); \
        io_foreign_calls.inside = false; \
        returned_; \
    })

#endif
