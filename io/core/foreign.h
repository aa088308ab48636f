/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of the libraries HDF5 and chemfiles, which can crash on a damaged file. The command's
 * handler of crashes (cli/common/guard.c) finds out here whether the thread was in a call of one,
 * and which message to print.
 */
#ifndef KITH_IO_FOREIGN_H
#define KITH_IO_FOREIGN_H

#include <signal.h>
#include <stdbool.h>

/** The current call of a library by this thread. A handler of signals may read it. */
typedef struct io_foreign {
    volatile sig_atomic_t inside; /**< The thread is in a call of a library. */
    int length;                   /**< Length of text [byte]. */
    char text[1600];              /**< Message for a crash: file and library. It fits, as
                                       io_foreign_file shortens both names. */
} io_foreign;

extern _Thread_local io_foreign io_foreign_calls; /* calls of this thread */

/** Set the message for crashes of this thread.
 *  @param library  name and version of the library
 *  @param path     file that the following calls work on */
void io_foreign_file(const char *library, const char *path);

/** Evaluate a call of a library that returns a value. Must not be nested. */
#define IO_FOREIGN(call) \
    __extension__({ \
        io_foreign_calls.inside = true; \
        const __auto_type returned_ = (call); \
        io_foreign_calls.inside = false; \
        returned_; \
    })

#endif
