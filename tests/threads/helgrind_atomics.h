/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Included before the first line of pool.c where helgrind checks it (tests/valgrind.py). Helgrind
 * knows that locks order the accesses of threads, but not that atomics do. Here each sequentially
 * consistent access tells helgrind what it acquires and releases, as C11 defines; a relaxed access
 * tells nothing. So helgrind reports every access to the description of a loop that is not ordered.
 */
#ifndef KITH_HELGRIND_ATOMICS_H
#define KITH_HELGRIND_ATOMICS_H

#include <stdatomic.h>
#include <valgrind/helgrind.h>

/** Make an access: `before` tells helgrind what it releases, `after` what it acquires. */
#define TELL(before, access, after) \
    __extension__({ \
        before; \
        const __auto_type value_ = (access); \
        after; \
        value_; \
    })
#define CHANGE(object, access) \
    TELL(ANNOTATE_HAPPENS_BEFORE(object), access, ANNOTATE_HAPPENS_AFTER(object))

#undef atomic_load
#define atomic_load(object) \
    TELL((void)0, atomic_load_explicit(object, memory_order_seq_cst), \
         ANNOTATE_HAPPENS_AFTER(object))
#undef atomic_store
#define atomic_store(object, value) \
    (void)TELL(ANNOTATE_HAPPENS_BEFORE(object), \
               (atomic_store_explicit(object, value, memory_order_seq_cst), 0), (void)0)
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(object, expected, value) \
    CHANGE(object, atomic_compare_exchange_strong_explicit( \
                       object, expected, value, memory_order_seq_cst, memory_order_seq_cst))
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(object, expected, value) \
    CHANGE(object, atomic_compare_exchange_weak_explicit( \
                       object, expected, value, memory_order_seq_cst, memory_order_seq_cst))
#undef atomic_fetch_add
#define atomic_fetch_add(object, value) \
    CHANGE(object, atomic_fetch_add_explicit(object, value, memory_order_seq_cst))
#undef atomic_fetch_sub
#define atomic_fetch_sub(object, value) \
    CHANGE(object, atomic_fetch_sub_explicit(object, value, memory_order_seq_cst))
#undef atomic_fetch_and
#define atomic_fetch_and(object, value) \
    CHANGE(object, atomic_fetch_and_explicit(object, value, memory_order_seq_cst))

#endif
