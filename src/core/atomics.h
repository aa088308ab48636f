/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Atomic minimum and maximum by compare-and-swap, with relaxed memory order: the result does not
 * depend on the order in which threads update the number.
 */
#ifndef KITH_ATOMICS_H
#define KITH_ATOMICS_H

#include <stdatomic.h>
#include <stdint.h>

/** Atomically set *to to the smaller of *to and value. */
static inline void kith__atomic_min32(_Atomic int32_t *to, int32_t value)
{
    int32_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (value < now && !atomic_compare_exchange_weak_explicit(
                              to, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

/** Atomically set *to to the smaller of *to and value. */
static inline void kith__atomic_min64(_Atomic int64_t *to, int64_t value)
{
    int64_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (value < now && !atomic_compare_exchange_weak_explicit(
                              to, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

/** Atomically set *to to the larger of *to and value. */
static inline void kith__atomic_max64(_Atomic int64_t *to, int64_t value)
{
    int64_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (value > now && !atomic_compare_exchange_weak_explicit(
                              to, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

#endif
