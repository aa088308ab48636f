/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spherical overdensities (Lacey & Cole 1994, MNRAS 271, 676): the radius within which all matter
 * has a given mean density. The pair search finds the particles around many centres at once:
 * centres with similar radii share a search, so that small halos do not pay for large ones. A
 * centre whose sphere turns out larger than the radius searched comes again with a larger one.
 */
#include "spheres.h"

#include <stdlib.h>
#include <string.h>

static const double first_reach = 1.5; /* radius searched / R_g of the lowest density */
static const double growth = 1.6;      /* of the radius from one search to the next */
static const double shared = 3;        /* largest / smallest radius in one search */

/** A particle near a centre. */
struct near {
    double r, m;
    int32_t j;
};

/** A centre that still has spheres to find. */
struct wish {
    double reach; /* radius to search */
    int32_t halo;
};

struct search {
    const struct kith__members *members;
    kith_halos *halos;
    struct wish *wish; /* [wishes], the largest reach first */
    int64_t wishes;
    int64_t again;     /* wishes to come again, kept at the front */
    double reach;      /* of this search */
    double farthest;   /* beyond it no sphere is looked for */
    int64_t first;     /* wish of the pairs' i = 0 */
    int64_t row;       /* i that near belongs to */
    struct near *near; /* particles around it so far */
    int64_t n, room;
    bool no_memory;
};

static int by_reach(const void *a, const void *b)
{
    const struct wish *u = a, *v = b;
    if (u->reach != v->reach) {
        return u->reach < v->reach ? 1 : -1;
    }
    return (u->halo > v->halo) - (u->halo < v->halo);
}

static int by_distance(const void *a, const void *b)
{
    const struct near *u = a, *v = b;
    if (u->r != v->r) {
        return u->r < v->r ? -1 : 1;
    }
    return (u->j > v->j) - (u->j < v->j);
}

/** Radius that mass alone would have at a density. */
static double radius_of(double mass, double density)
{
    static const double pi = 3.14159265358979323846;
    return cbrt(3 * mass / (4 * pi * density));
}

/** Find one sphere among particles by distance, m the mass up to each. Between particles k and
 *  k + 1 the density falls through that wanted where radius_of(m_k) lies between r_k and r_k+1.
 *  @return the k; -1: there is none; n: farther out than was searched. */
static int64_t find_sphere(const struct near *near, int64_t n, double mass, double density,
                           double reach)
{
    const double alone = radius_of(mass, density);
    int64_t k = n - 1;
    while (k >= 0 && near[k].r > alone) {
        k--;
    }
    if (k < 0) {
        return -1;
    }
    if (radius_of(near[k].m, density) >= alone) {
        while (k + 1 < n && near[k + 1].r <= radius_of(near[k].m, density)) {
            k++;
        }
        return k + 1 == n && radius_of(near[k].m, density) > reach ? n : k;
    }
    while (k >= 0 && radius_of(near[k].m, density) < near[k].r) {
        k--;
    }
    return k;
}

/** All particles within reach of a centre are known: find its spheres, or ask for a wider search.
 */
static void finish_row(struct search *s)
{
    const struct wish wish = s->wish[s->first + s->row];
    kith_halo *halo = &s->halos->halo[wish.halo];
    bool wider = false;
    if (s->n > 0) {
        qsort(s->near, (size_t)s->n, sizeof *s->near, by_distance);
    }
    for (int64_t k = 1; k < s->n; k++) {
        s->near[k].m += s->near[k - 1].m;
    }
    for (int t = 0; t < KITH_SPHERES; t++) {
        const double density = s->members->input->sphere_density[t];
        if (density > 0) {
            const int64_t k = find_sphere(s->near, s->n, halo->mass, density, s->reach);
            const bool found = k >= 0 && k < s->n;
            halo->sphere_mass[t] = found ? s->near[k].m : 0;
            halo->sphere_radius[t] = found ? radius_of(s->near[k].m, density) : 0;
            wider = wider || k == s->n;
        }
    }
    if (wider && s->reach * growth <= s->farthest) {
        s->wish[s->again++] = (struct wish){s->reach * growth, wish.halo};
    }
    s->n = 0;
}

static int receive(void *user, const kith_pairs *block, int64_t first)
{
    struct search *s = user;
    const struct kith__question *q = s->members->question;
    const void *masses = s->members->input->masses;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        while (s->row < block->i[p]) {
            finish_row(s);
            s->row++;
        }
        if (s->n == s->room) {
            const int64_t room = 2 * s->room + 1024;
            struct near *grown = realloc(s->near, (size_t)room * sizeof *grown);
            if (!grown) {
                s->no_memory = true;
                return 1;
            }
            s->near = grown;
            s->room = room;
        }
        const int32_t j = block->j[p];
        s->near[s->n++] = (struct near){kith__real_at(block->distances, p, q->precision),
                                        masses ? kith__real_at(masses, j, q->precision) : 1, j};
    }
    return 0;
}

/** Search around the wishes from first to last, whose centres have room in xyz. */
static kith_status search(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                          struct search *s, int64_t last, void *xyz)
{
    enum { BLOCK_PAIRS = 1 << 20 };
    const int64_t n = last - s->first;
    for (int64_t c = 0; c < 3 * n; c++) {
        const double x = s->halos->halo[s->wish[s->first + c / 3].halo].centre[c % 3];
        if (points->precision == KITH_FLOAT) {
            ((float *)xyz)[c] = (float)x;
        } else {
            ((double *)xyz)[c] = x;
        }
    }
    const kith_points centres = kith_points_packed(xyz, n, points->precision);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.against = points;
    options.sorted = 1;
    options.extras = KITH_DISTANCES;
    options.block_pairs = BLOCK_PAIRS;
    s->row = 0;
    s->n = 0;
    const kith_status status = kith_pairs_each(ctx, &centres, box, s->reach, &options, receive, s);
    KITH_CHECK(ctx, !s->no_memory, KITH_NO_MEMORY, "out of memory for the particles of a sphere");
    KITH_TRY(status);
    for (; s->row < n; s->row++) {
        finish_row(s);
    }
    return KITH_OK;
}

/** Search for all wishes, in turns by reach. */
static kith_status search_all(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              struct search *s, void *xyz)
{
    while (s->wishes > 0) {
        qsort(s->wish, (size_t)s->wishes, sizeof *s->wish, by_reach);
        s->again = 0;
        for (s->first = 0; s->first < s->wishes;) {
            int64_t last = s->first;
            s->reach = s->wish[s->first].reach;
            while (last < s->wishes && s->wish[last].reach * shared >= s->reach) {
                last++;
            }
            KITH_TRY(search(ctx, points, box, s, last, xyz));
            s->first = last;
        }
        s->wishes = s->again;
    }
    return KITH_OK;
}

/** The first wishes: what lies within reach of every halo. */
static void make_wishes(struct search *s)
{
    const double *density = s->members->input->sphere_density;
    double lowest = INFINITY;
    for (int t = 0; t < KITH_SPHERES; t++) {
        lowest = density[t] > 0 ? fmin(lowest, density[t]) : lowest;
    }
    s->wishes = isfinite(lowest) ? s->halos->n : 0;
    for (int64_t h = 0; h < s->wishes; h++) {
        const double alone = radius_of(s->halos->halo[h].mass, lowest);
        s->wish[h] = (struct wish){fmin(first_reach * alone, s->farthest), (int32_t)h};
    }
}

kith_status kith__spheres_measure(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                  const struct kith__members *members, kith_halos *halos)
{
    const struct kith__question *q = members->question;
    const size_t n = (size_t)halos->n;
    struct search s = {.members = members, .halos = halos, .farthest = INFINITY};
    for (int k = 0; k < 3; k++) {
        s.farthest = q->box_d.periodic[k] ? fmin(s.farthest, q->height[k]) : s.farthest;
    }
    void *xyz = kith__alloc(3 * n * (size_t)q->precision);
    s.wish = kith__alloc(n * sizeof *s.wish);
    kith_status status = KITH_NO_MEMORY;
    if (xyz && s.wish) {
        make_wishes(&s);
        status = search_all(ctx, points, box, &s, xyz);
    } else {
        kith__fail(ctx, status, "out of memory for the centres of %zu halos", n);
    }
    free(s.near);
    free(s.wish);
    free(xyz);
    return status;
}
