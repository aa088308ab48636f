/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory: aligned arrays, and the scratch of a context, which grows and is reused.
 */
#ifndef KITH_WORK_H
#define KITH_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "questions.h"

enum { KITH_ALIGN = 64 };

/** An array that only grows. Zero it first. */
struct kith__buffer {
    void *data;
    size_t bytes;
};

/** Where buffers get their memory. */
struct kith__memory {
    void *(*need)(struct kith__buffer *buffer, size_t bytes); /**< as kith__buffer_need */
    void (*free)(struct kith__buffer *buffer);
};

/** The scratch of a context: numbered buffers, each for one purpose (questions.h). */
struct kith__work {
    struct kith__buffer slot[KITH_WORK_SLOTS];
};

/** Allocate 64-byte aligned memory, in huge pages where large; NULL when there is none. Release
 *  with free(). */
void *kith__alloc(size_t bytes);

/** Make room for bytes; contents are lost when it grows. @return the data, or NULL. */
void *kith__buffer_need(struct kith__buffer *buffer, size_t bytes);

/** Make room for bytes, keeping the first `used` of the contents. @return the data, or NULL. */
void *kith__buffer_grow(struct kith__buffer *buffer, size_t used, size_t bytes);

void kith__buffer_free(struct kith__buffer *buffer);

/** kith__buffer_need for one numbered slot. */
void *kith__work_need(struct kith__work *work, int slot, size_t bytes);

int64_t kith__work_bytes(const struct kith__work *work);
void kith__work_free(struct kith__work *work);

#endif
