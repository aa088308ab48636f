/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linker (--wrap=malloc and so on) turns calls of malloc into __wrap_malloc, defined here, and
 * __real_malloc into the true one.
 */
#include "alloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int_fast64_t count, live;
static atomic_int_fast64_t fail_from = INT64_MAX, fail_to = INT64_MAX;
static _Thread_local int64_t own_left, own_times; /* allocations before the failures, and these */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
void __real_free(void *memory);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
void __wrap_free(void *memory);

int64_t alloc_count(void)
{
    return atomic_load(&count);
}

int64_t alloc_live(void)
{
    return atomic_load(&live);
}

void alloc_fail(int64_t k, int64_t times)
{
    const int64_t now = atomic_load(&count);
    atomic_store(&fail_from, times > 0 ? now + k : INT64_MAX);
    atomic_store(&fail_to, times > 0 && times < INT64_MAX - now - k ? now + k + times : INT64_MAX);
}

void alloc_fail_thread(int64_t k, int64_t times)
{
    own_left = k;
    own_times = times;
}

/* Whether an allocation of this thread fails, which is thereby counted. */
static int fails_here(void)
{
    if (own_times == 0 || own_left-- > 0)
        return 0;
    own_times--;
    return 1;
}

static int fails(void)
{
    const int64_t number = atomic_fetch_add(&count, 1);
    const int here = fails_here();
    if (!here && (number < atomic_load(&fail_from) || number >= atomic_load(&fail_to)))
        return 0;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *memory)
{
    atomic_fetch_add(&live, memory != NULL);
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (fails())
        return NULL;
    void *grown = __real_realloc(memory, bytes);
    if (memory == NULL)
        counted(grown);
    return grown;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (fails())
        return ENOMEM;
    const int error = __real_posix_memalign(out, alignment, bytes);
    if (error == 0)
        counted(*out);
    return error;
}

void __wrap_free(void *memory)
{
    atomic_fetch_sub(&live, memory != NULL);
    __real_free(memory);
}
