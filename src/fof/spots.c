/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distinct positions, found by a hash table with linear probing. O(n) expected.
 */
#include "spots.h"

#include <string.h>

/** Hash key of a particle: the bytes of its coordinates, then of its velocity, then zeros. */
struct likeness {
    char bytes[6 * sizeof(double)];
};

void kith__spots_copy(const struct kith__question *q, int64_t p, void *xyz)
{
    const size_t size = (size_t)q->precision;
    const char *const axis[3] = {q->a.x, q->a.y, q->a.z};
    memset(xyz, 0, 3 * size);
    for (int k = 0; k < (q->dim == 2 ? 2 : 3); k++) {
        memcpy((char *)xyz + (size_t)k * size, axis[k] + (size_t)(p * q->a.stride) * size, size);
    }
}

/** Write the hash key of particle p. */
static void describe(const struct kith__question *q, const void *velocities, int64_t p,
                     struct likeness *out)
{
    const size_t size = 3 * (size_t)q->precision;
    memset(out, 0, sizeof *out);
    kith__spots_copy(q, p, out->bytes);
    if (velocities) {
        memcpy(out->bytes + size, (const char *)velocities + (size_t)p * size, size);
    }
}

/** Hash a key word by word with the finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t hash_of(const struct likeness *likeness)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < sizeof likeness->bytes; at += sizeof hash) {
        uint64_t word;
        memcpy(&word, likeness->bytes + at, sizeof word);
        hash = (hash ^ word) + 0x9e3779b97f4a7c15u;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return hash;
}

kith_status kith__spots_find(kith_ctx *ctx, const struct kith__question *q, const void *velocities,
                             const int32_t *index, int64_t n, int slot, struct kith__spots *spots)
{
    const size_t four = (size_t)n * sizeof(int32_t);
    const size_t size = 3 * (size_t)q->precision;
    uint64_t room = 64;
    while (room < 2 * (uint64_t)n) {
        room *= 2;
    }
    spots->n = 0;
    spots->first = kith__work_need(&ctx->work, slot, four);
    spots->many = kith__work_need(&ctx->work, slot + 1, four);
    spots->xyz = kith__work_need(&ctx->work, slot + 2, (size_t)n * size);
    spots->of = kith__work_need(&ctx->work, slot + 3, four);
    int32_t *table = kith__work_need(&ctx->work, slot + 4, room * sizeof *table);
    KITH_CHECK(ctx, spots->first && spots->many && spots->xyz && spots->of && table, KITH_NO_MEMORY,
               "out of memory to compare %lld particles", (long long)n);
    memset(table, 0xff, room * sizeof *table);
    for (int64_t at = 0; at < n; at++) {
        enum { COST = 100 };
        if (kith__skip(ctx, at, COST)) {
            break;
        }
        struct likeness mine;
        struct likeness other;
        describe(q, velocities, index[at], &mine);
        uint64_t entry = hash_of(&mine) & (room - 1);
        for (; table[entry] >= 0; entry = (entry + 1) & (room - 1)) {
            describe(q, velocities, spots->first[table[entry]], &other);
            if (memcmp(&mine, &other, sizeof mine) == 0) {
                break;
            }
        }
        if (table[entry] < 0) {
            table[entry] = (int32_t)spots->n;
            spots->first[spots->n] = index[at];
            spots->many[spots->n] = 0;
            memcpy(spots->xyz + (size_t)spots->n * size, mine.bytes, size);
            spots->n++;
        }
        spots->of[at] = table[entry];
        spots->many[table[entry]]++;
    }
    return kith__proceed(ctx);
}
