/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aligned allocation, and buffers that are kept from call to call and only grow.
 */
#include "work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Arrays of this size or more start on a huge page: the first access then costs a page fault for
 * every 2 MiB instead of every 4 KiB [bytes]. */
static const size_t huge_page = (size_t)2 << 20;

void *kith__alloc(size_t bytes)
{
    const size_t align = bytes >= huge_page ? huge_page : KITH_ALIGN;
    if (bytes > SIZE_MAX - align) {
        return NULL;
    }
    /* aligned_alloc takes multiples of the alignment alone; this one is never 0 */
    const size_t rounded = (bytes + align) / align * align;
    void *data = aligned_alloc(align, rounded);
#ifdef MADV_HUGEPAGE
    if (data && align == huge_page) {
        (void)madvise(data, rounded, MADV_HUGEPAGE);
    }
#endif
    return data;
}

void *kith__buffer_need(struct kith__buffer *buffer, size_t bytes)
{
    return kith__buffer_grow(buffer, 0, bytes);
}

void *kith__buffer_grow(struct kith__buffer *buffer, size_t used, size_t bytes)
{
    assert(used <= buffer->bytes && used <= bytes);
    if (buffer->data && bytes <= buffer->bytes) {
        return buffer->data;
    }
    if (used == 0) { /* free first, so that the old and the new array do not exist at one time */
        kith__buffer_free(buffer);
    }
    void *data = kith__alloc(bytes);
    if (data) {
        if (used) {
            memcpy(data, buffer->data, used);
        }
        free(buffer->data);
        *buffer = (struct kith__buffer){data, bytes};
    }
    return data;
}

void kith__buffer_free(struct kith__buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct kith__buffer){NULL, 0};
}

void *kith__work_need(struct kith__work *work, int number, size_t bytes)
{
    assert(number >= 0 && number < KITH_WORK_BUFFERS);
    return kith__buffer_need(&work->buffer[number], bytes);
}

int64_t kith__work_bytes(const struct kith__work *work)
{
    int64_t bytes = 0;
    for (int s = 0; s < KITH_WORK_BUFFERS; s++) {
        bytes += (int64_t)work->buffer[s].bytes;
    }
    return bytes;
}

void kith__work_free(struct kith__work *work)
{
    for (int s = 0; s < KITH_WORK_BUFFERS; s++) {
        kith__buffer_free(&work->buffer[s]);
    }
}
