/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distinct positions, found by a hash table with linear probing. O(n) expected.
 */
#include "distinct.h"

#include <string.h>

/** Hash key of a particle: the bytes of its coordinates, then of its velocity, then zeros. */
struct position_key {
    char bytes[6 * sizeof(double)];
};

void kith__distinct_copy(const struct kith__question *q, int64_t p, void *xyz)
{
    const size_t size = (size_t)q->precision; /* a kith_precision is the size of a number [bytes] */
    const char *const axis[3] = {q->a.x, q->a.y, q->a.z};
    memset(xyz, 0, 3 * size);
    for (int k = 0; k < (q->dim == 2 ? 2 : 3); k++) {
        memcpy((char *)xyz + (size_t)k * size, axis[k] + (size_t)(p * q->a.stride) * size, size);
    }
}

/** Write the hash key of particle p. */
static void make_key(const struct kith__question *q, const void *velocities, int64_t p,
                     struct position_key *out)
{
    const size_t size = 3 * (size_t)q->precision;
    memset(out, 0, sizeof *out);
    kith__distinct_copy(q, p, out->bytes);
    if (velocities) {
        memcpy(out->bytes + size, (const char *)velocities + (size_t)p * size, size);
    }
}

/** Hash a key word by word with the finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t hash_of(const struct position_key *position_key)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < sizeof position_key->bytes; at += sizeof hash) {
        uint64_t word;
        memcpy(&word, position_key->bytes + at, sizeof word);
        hash = (hash ^ word) + 0x9e3779b97f4a7c15u;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return hash;
}

kith_status kith__distinct_find(kith_ctx *ctx, const struct kith__question *q,
                                const void *velocities, const int32_t *index, int64_t n, int buffer,
                                struct kith__distinct *distinct)
{
    const size_t int_bytes = (size_t)n * sizeof(int32_t);
    const size_t size = 3 * (size_t)q->precision;
    uint64_t table_size = 64; /* a power of two, so that a mask replaces the remainder; the table is
                                 at most half full */
    while (table_size < 2 * (uint64_t)n) {
        table_size *= 2;
    }
    distinct->n = 0;
    distinct->first = kith__work_need(&ctx->work, buffer, int_bytes);
    distinct->count = kith__work_need(&ctx->work, buffer + 1, int_bytes);
    distinct->xyz = kith__work_need(&ctx->work, buffer + 2, (size_t)n * size);
    distinct->of = kith__work_need(&ctx->work, buffer + 3, int_bytes);
    int32_t *table = kith__work_need(&ctx->work, buffer + 4, table_size * sizeof *table);
    KITH_CHECK(ctx, distinct->first && distinct->count && distinct->xyz && distinct->of && table,
               KITH_NO_MEMORY, "out of memory to compare %lld particles", (long long)n);
    memset(table, 0xff, table_size * sizeof *table); /* -1: empty; else the number of a position */
    for (int64_t at = 0; at < n; at++) {
        enum { COST = 100 }; /* cost of one particle for kith__skip [about 1 ns] */
        if (kith__skip(ctx, at, COST)) {
            break;
        }
        struct position_key key;
        struct position_key other;
        make_key(q, velocities, index[at], &key);
        uint64_t entry = hash_of(&key) & (table_size - 1);
        for (; table[entry] >= 0; entry = (entry + 1) & (table_size - 1)) {
            make_key(q, velocities, distinct->first[table[entry]], &other);
            if (memcmp(&key, &other, sizeof key) == 0) {
                break;
            }
        }
        if (table[entry] < 0) {
            table[entry] = (int32_t)distinct->n;
            distinct->first[distinct->n] = index[at];
            distinct->count[distinct->n] = 0;
            memcpy(distinct->xyz + (size_t)distinct->n * size, key.bytes, size);
            distinct->n++;
        }
        distinct->of[at] = table[entry];
        distinct->count[table[entry]]++;
    }
    return kith__proceed(ctx);
}
