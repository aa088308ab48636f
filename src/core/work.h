/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory on the host: aligned arrays, buffers that only grow, and the scratch memory of a context,
 * which later calls reuse, so that a second call of equal size allocates nothing.
 */
#ifndef KITH_WORK_H
#define KITH_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "questions.h"

enum { KITH_ALIGN = 64 }; /**< alignment of arrays: a cache line, and the widest vector [bytes] */

/** An array that only grows. Set it to zero before its first use. */
struct kith__buffer {
    void *data;   /**< the array; NULL when there is none */
    size_t bytes; /**< size of the array */
};

/** Functions that allocate and free buffers in one kind of memory, host or device. */
struct kith__memory {
    /** Make the buffer hold at least `bytes`, as kith__buffer_need does.
     *  @return the data, or NULL when there is no memory */
    void *(*need)(struct kith__buffer *buffer, size_t bytes);

    /** Free the data and set the buffer to zero. */
    void (*free)(struct kith__buffer *buffer);
};

/** The scratch memory of a context. */
struct kith__work {
    struct kith__buffer
        buffer[KITH_WORK_BUFFERS]; /**< buffers, each for one purpose (questions.h) */
};

/** Allocate memory aligned to KITH_ALIGN; where it is 2 MiB or more, aligned to that, and huge
 *  pages are asked for. Release it with free().
 *  @return the memory, or NULL when there is none */
void *kith__alloc(size_t bytes);

/** Make a buffer hold at least `bytes`; its contents are lost when it grows.
 *  @return the data, or NULL when there is no memory: the buffer is then empty */
void *kith__buffer_need(struct kith__buffer *buffer, size_t bytes);

/** Make a buffer hold at least `bytes`, keeping the first `used` bytes of its contents.
 *  @return the data, or NULL when there is no memory: the buffer is then unchanged, or empty where
 *          used is 0 */
void *kith__buffer_grow(struct kith__buffer *buffer, size_t used, size_t bytes);

/** Free the data and set the buffer to zero. */
void kith__buffer_free(struct kith__buffer *buffer);

/** Make a buffer of a context's scratch memory hold at least `bytes`; its contents are lost when it
 *  grows.
 *  @param number  number of the buffer (questions.h)
 *  @return the data, or NULL when there is no memory */
void *kith__work_need(struct kith__work *work, int number, size_t bytes);

/** Return the bytes that all buffers of a context's scratch hold. */
int64_t kith__work_bytes(const struct kith__work *work);

/** Free all buffers of a context's scratch. */
void kith__work_free(struct kith__work *work);

#endif
