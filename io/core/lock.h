/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Advisory locks on files that one process writes over a long time. The system drops a lock when
 * its process ends, however it ends.
 */
#ifndef KITH_IO_LOCK_H
#define KITH_IO_LOCK_H

#include "io.h"

/** A lock that this process holds; released by io_lock_release, or when the process ends. */
typedef struct io_lock io_lock;

/** Which file is locked. */
typedef enum io_lock_kind {
    IO_LOCK_FILE,  /**< The file itself, which is created: for files that are written in place. */
    IO_LOCK_BESIDE /**< PATH.lock, which io_lock_release removes: for files that are replaced. */
} io_lock_kind;

/** Take an exclusive lock, without waiting. A device or pipe is not locked. Where the file system
 *  does not support locks, it succeeds without one (io_lock_is_kept).
 *  @param[out] out  NULL if path is a device or pipe
 *  @return IO_SYSTEM if another process holds the lock; the message gives the number of the process
 *  if the system reports it. */
io_status io_lock_take(const char *path, io_lock_kind kind, io_lock **out, io_error *error);

/** Return true when the file system supports advisory locks; without these the lock does not
 *  exclude other processes. */
bool io_lock_is_kept(const io_lock *lock);

/** Release the lock and free it. NULL is allowed. */
void io_lock_release(io_lock *lock);

#endif
