/* SPDX-License-Identifier: BSD-3-Clause */
#include "verlet_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kept kept_open(kith_ctx *ctx, const kith_verlet_options *options, const char *name)
{
    kept k = {.ctx = ctx, .options = *options, .name = name};
    k.list.size = k.fresh.size = sizeof k.list;
    if (!CHECK(kith_verlet_open(ctx, options, &k.verlet) == KITH_OK, "%s: %s", name,
               kith_message(ctx)))
        exit(1);
    return k;
}

void kept_close(kept *k)
{
    kith_verlet_close(k->verlet);
    kith_pairs_free(&k->list);
    kith_pairs_free(&k->fresh);
}

kith_verlet_state kept_state(const kept *k)
{
    kith_verlet_state state;
    CHECK(kith_verlet_read(k->verlet, &state) == KITH_OK, "%s", kith_message(k->ctx));
    return state;
}

static int same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Pair p of list a has the bits of pair q of list b, and so have n - 1 pairs behind them. */
static int same_pairs(const kept *k, const kith_pairs *a, int64_t p, const kith_pairs *b, int64_t q,
                      size_t n, size_t real)
{
    const unsigned extras = k->options.extras;
    return same_bytes(a->j + p, b->j + q, n * sizeof *a->j) &&
           (k->options.layout != KITH_IJ || same_bytes(a->i + p, b->i + q, n * sizeof *a->i)) &&
           (!(extras & KITH_DISTANCES) ||
            same_bytes((char *)a->distances + (size_t)p * real,
                       (char *)b->distances + (size_t)q * real, n * real)) &&
           (!(extras & KITH_VECTORS) ||
            same_bytes((char *)a->vectors + 3 * (size_t)p * real,
                       (char *)b->vectors + 3 * (size_t)q * real, 3 * n * real)) &&
           (!(extras & KITH_SHIFTS) ||
            same_bytes(a->shifts + 3 * p, b->shifts + 3 * q, 3 * n * sizeof *a->shifts));
}

int kept_same(const kept *k, const kith_pairs *a, const kith_pairs *b, size_t real)
{
    return a->n == b->n && a->rows == b->rows && same_pairs(k, a, 0, b, 0, (size_t)a->n, real) &&
           (k->options.layout != KITH_CSR ||
            same_bytes(a->offsets, b->offsets, ((size_t)a->rows + 1) * sizeof *a->offsets));
}

/* The pairs of the fresh list are in the other one, in their order; the rest is farther apart. */
static int holds(const kept *k, size_t real)
{
    const kith_pairs *all = &k->list, *part = &k->fresh;
    if (all->rows != part->rows || k->options.layout != KITH_IJ)
        return all->rows == part->rows && all->n >= part->n;
    int64_t q = 0;
    for (int64_t p = 0; p < all->n; p++)
        if (q < part->n && same_pairs(k, all, p, part, q, 1, real))
            q++;
        else if (k->options.extras & KITH_DISTANCES) {
            const double r = real == sizeof(float) ? (double)((float *)all->distances)[p]
                                                   : ((double *)all->distances)[p];
            if (r < k->options.cutoff * (1 - 1e-6))
                return 0;
        }
    return q == part->n;
}

static kith_status search(kept *k, const kith_points *points, const kith_box *box, double cutoff)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.sorted = 1;
    o.full = k->options.full;
    o.layout = k->options.layout;
    o.extras = k->options.extras;
    return kith_pairs_find(k->ctx, points, box, cutoff, &o, &k->fresh);
}

int kept_check(kept *k, const kith_points *points, const kith_box *box)
{
    const size_t real = (size_t)points->precision;
    const kith_status status = kith_verlet_update(k->verlet, points, box, &k->list);
    const kith_verlet_state state = kept_state(k);
    if (!CHECK(status == KITH_OK, "%s: %s", k->name, kith_message(k->ctx)))
        return 0;
    if (k->options.with_skin && state.rebuilt) {
        CHECK(search(k, points, box, k->options.cutoff + k->options.skin) == KITH_OK, "%s: %s",
              k->name, kith_message(k->ctx));
        if (!CHECK(kept_same(k, &k->list, &k->fresh, real), "%s: not the list with the skin",
                   k->name))
            return 0;
    }
    if (!CHECK(search(k, points, box, k->options.cutoff) == KITH_OK, "%s: %s", k->name,
               kith_message(k->ctx)))
        return 0;
    return CHECK(
        k->options.with_skin ? holds(k, real) : kept_same(k, &k->list, &k->fresh, real),
        "%s: update %lld, reason %d, %lld pairs, a fresh search has %lld; full %d, layout %d, "
        "extras %u, with_skin %d, n %lld, cutoff %.17g, skin %.17g, displacement %.17g of %.17g",
        k->name, (long long)state.updates, (int)state.reason, (long long)k->list.n,
        (long long)k->fresh.n, k->options.full, (int)k->options.layout, k->options.extras,
        k->options.with_skin, (long long)points->n, k->options.cutoff, k->options.skin,
        state.displacement, state.allowed);
}
