/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spherical overdensities (Lacey & Cole 1994, MNRAS 271, 676): the radius within which all matter
 * has a given mean density. The pair search finds the particles around many centres at once:
 * centres with similar radii share a search, so that small halos do not pay for large ones. A
 * centre whose sphere turns out larger than the radius searched comes again with a larger one.
 *
 * Most particles are near no centre, and sorting them for a search would cost most of its time: so
 * those in no cell beside a centre's are left out. Cells are marked in a small table by their hash;
 * two in one place only let more particles through.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

static const double first_reach = 1.5; /* radius searched / R_g of the lowest density */
static const double growth = 1.6;      /* of the radius from one search to the next */
static const double shared = 3;        /* largest / smallest radius in one search */
static const double farthest_cell = 1e15;

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

/** Particles that a search is to see. */
struct kept {
    int64_t n;
    void *xyz;      /* [n][3] in the points' precision */
    int32_t *index; /* [n] which they are */
    uint8_t *keep;  /* [points] */
};

struct search {
    const struct kith__question *question;
    const kith_halo_input *input;
    kith_halos *halos;
    struct wish *wish; /* [wishes], the largest reach first */
    int64_t wishes;
    int64_t again;     /* wishes to come again, kept at the front */
    double reach;      /* of this search */
    struct kept kept;  /* particles of this search */
    double farthest;   /* beyond it no sphere is looked for */
    int64_t first;     /* wish of the pairs' i = 0 */
    int64_t row;       /* the first i that is not finished */
    struct near *near; /* particles around it, and those after it, so far */
    int64_t n, room;
    int64_t *begin; /* [halos + 1] where each i begins among those of a block */
    bool *wider;    /* [halos] does i want a wider search? */
    int threads;
    bool no_memory;
};

enum { MARKS = 1 << 24 }; /* bits: 2 MB, as large as a cache */

/** Cells at least as wide as a search's reach, those beside a centre marked. */
struct sieve {
    const struct kith__question *question;
    double scale[3];  /* cells for each unit of fractional coordinate */
    int64_t round[3]; /* cells along a periodic axis; 0: the axis is open */
    uint64_t *marks;
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

/** All particles within reach of a centre are known: find its spheres. @return whether a wider
 *  search is needed. */
static bool finish_row(const struct search *s, int64_t row, struct near *near, int64_t n)
{
    kith_halo *halo = &s->halos->halo[s->wish[s->first + row].halo];
    bool wider = false;
    if (n > 0) {
        qsort(near, (size_t)n, sizeof *near, by_distance);
    }
    for (int64_t k = 1; k < n; k++) {
        near[k].m += near[k - 1].m;
    }
    for (int t = 0; t < KITH_SPHERES; t++) {
        const double density = s->input->sphere_density[t];
        if (density > 0) {
            const int64_t k = find_sphere(near, n, halo->mass, density, s->reach);
            const bool found = k >= 0 && k < n;
            halo->sphere_mass[t] = found ? near[k].m : 0;
            halo->sphere_radius[t] = found ? radius_of(near[k].m, density) : 0;
            wider = wider || k == n;
        }
    }
    return wider;
}

/** Finish what comes before row `last`, whose particles begin at begin[row - s->row]. */
static void finish_rows(struct search *s, int64_t last)
{
    const int64_t first = s->row;
    const int64_t *begin = s->begin;
#pragma omp parallel for num_threads(s->threads) schedule(dynamic)
    for (int64_t row = first; row < last; row++) {
        const int64_t at = begin[row - first];
        s->wider[row] = finish_row(s, row, s->near + at, begin[row - first + 1] - at);
    }
    const int64_t done = begin[last - first];
    s->n -= done;
    if (done > 0 && s->n > 0) {
        memmove(s->near, s->near + done, (size_t)s->n * sizeof *s->near);
    }
    s->row = last;
}

/** Those that want a wider search come again with one. */
static void wish_again(struct search *s, int64_t n)
{
    for (int64_t row = 0; row < n && s->reach * growth <= s->farthest; row++) {
        if (s->wider[row]) {
            const int32_t halo = s->wish[s->first + row].halo;
            s->wish[s->again++] = (struct wish){s->reach * growth, halo};
        }
    }
}

static void find_cell(const struct sieve *sieve, const double r[3], int64_t cell[3])
{
    const struct kith__lattice_d *box = &sieve->question->box_d;
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(box, r, k);
        if (box->periodic[k]) {
            const int64_t last = sieve->round[k] - 1;
            const int64_t c = (int64_t)((f - kith__floor(f)) * sieve->scale[k]);
            cell[k] = c < last ? c : last;
        } else {
            double u = f * sieve->scale[k];
            u = u < farthest_cell ? u : farthest_cell;
            u = u > -farthest_cell ? u : -farthest_cell;
            cell[k] = (int64_t)kith__floor(u);
        }
    }
}

static uint32_t bit_of(const int64_t cell[3])
{
    const uint64_t mixed = (uint64_t)cell[0] * 0x9e3779b97f4a7c15u +
                           (uint64_t)cell[1] * 0xc2b2ae3d27d4eb4fu +
                           (uint64_t)cell[2] * 0x165667b19e3779f9u;
    return (uint32_t)((mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u >> 40);
}

/** Mark the cells around a centre. */
static void mark_around(struct sieve *sieve, const double centre[3])
{
    int64_t home[3];
    find_cell(sieve, centre, home);
    for (int side = 0; side < 27; side++) {
        int64_t cell[3] = {home[0] + side % 3 - 1, home[1] + side / 3 % 3 - 1,
                           home[2] + side / 9 - 1};
        for (int k = 0; k < 3; k++) {
            const int64_t round = sieve->round[k];
            cell[k] = round > 0 ? (cell[k] + round) % round : cell[k];
        }
        const uint32_t bit = bit_of(cell);
        sieve->marks[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

/** Choose the particles near the wishes from first to last. @return false without memory. */
static bool sift(const kith_ctx *ctx, const struct search *s, int64_t last, struct kept *out)
{
    const struct kith__question *q = s->question;
    const double margin = 1 + 1e-5; /* for roundings of reach and coordinates */
    struct sieve sieve = {.question = q, .marks = calloc(MARKS / 64, sizeof *sieve.marks)};
    out->keep = kith__alloc((size_t)q->a.n);
    if (!sieve.marks || !out->keep) {
        free(sieve.marks);
        return false;
    }
    for (int k = 0; k < 3; k++) {
        sieve.scale[k] = q->height[k] / (margin * s->reach);
        if (q->box_d.periodic[k]) {
            sieve.round[k] = sieve.scale[k] > 1 ? (int64_t)sieve.scale[k] : 1;
            sieve.scale[k] = (double)sieve.round[k];
        }
    }
    for (int64_t w = s->first; w < last; w++) {
        mark_around(&sieve, s->halos->halo[s->wish[w].halo].centre);
    }
    int64_t n = 0;
#pragma omp parallel for num_threads(kith__threads_for(ctx, q->a.n)) reduction(+ : n)
    for (int64_t p = 0; p < q->a.n; p++) {
        double r[3];
        int64_t cell[3];
        kith__position(&q->a, q->dim, q->precision, p, r);
        find_cell(&sieve, r, cell);
        const uint32_t bit = bit_of(cell);
        out->keep[p] = sieve.marks[bit / 64] >> bit % 64 & 1;
        n += out->keep[p];
    }
    free(sieve.marks);
    out->n = n;
    return true;
}

/** Copy the particles chosen. @return false without memory. */
static bool copy_kept(const struct kith__question *q, int threads, struct kept *out)
{
    const size_t size = (size_t)q->precision;
    const void *const from[3] = {q->a.x, q->a.y, q->a.z};
    char *to = out->xyz = kith__alloc(3 * size * (size_t)out->n);
    int64_t *ends = kith__alloc((size_t)threads * sizeof *ends);
    out->index = kith__alloc((size_t)out->n * sizeof *out->index);
    if (!to || !ends || !out->index) {
        free(ends);
        return false;
    }
#pragma omp parallel num_threads(threads)
    {
        const struct kith__share own = kith__my_share(q->a.n);
        int64_t many = 0;
        for (int64_t p = own.begin; p < own.end; p++) {
            many += out->keep[p];
        }
        int64_t at = kith__my_place(many, ends);
        for (int64_t p = own.begin; p < own.end; p++) {
            if (out->keep[p]) {
                for (size_t k = 0; k < 3; k++) {
                    memcpy(to + (3 * (size_t)at + k) * size,
                           (const char *)from[k] + (size_t)(p * q->a.stride) * size, size);
                }
                out->index[at++] = (int32_t)p;
            }
        }
    }
    free(ends);
    return true;
}

static void free_kept(struct kept *kept)
{
    free(kept->keep);
    free(kept->index);
    free(kept->xyz);
}

/** Make room for n more. @return false without memory. */
static bool need_near(struct search *s, int64_t n)
{
    if (s->n + n > s->room) {
        const int64_t room = 2 * (s->n + n);
        struct near *grown = realloc(s->near, (size_t)room * sizeof *grown);
        if (!grown) {
            s->no_memory = true;
            return false;
        }
        s->near = grown;
        s->room = room;
    }
    return true;
}

/** Take a block of pairs, by centre, and finish the centres before its last. */
static int receive(void *user, const kith_pairs *block, int64_t first)
{
    struct search *s = user;
    const kith_precision precision = s->question->precision;
    const void *masses = s->input->masses;
    (void)first;
    if (block->n == 0 || !need_near(s, block->n)) {
        return s->no_memory;
    }
    struct near *to = s->near + s->n;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t j = s->kept.index[block->j[p]];
        to[p] = (struct near){kith__real_at(block->distances, p, precision),
                              masses ? kith__real_at(masses, j, precision) : 1, j};
    }
    const int64_t last = block->i[block->n - 1];
    s->begin[0] = 0;
    for (int64_t p = 0, row = s->row; row < last; row++) {
        while (block->i[p] <= row) {
            p++;
        }
        s->begin[row - s->row + 1] = s->n + p;
    }
    s->n += block->n;
    finish_rows(s, last);
    return 0;
}

/** Search around the wishes from first to last, whose centres have room in xyz. */
static kith_status search(kith_ctx *ctx, const kith_box *box, struct search *s, int64_t last,
                          void *xyz)
{
    enum { BLOCK_PAIRS = 1 << 20 };
    const struct kith__question *q = s->question;
    const int64_t n = last - s->first;
    for (int64_t c = 0; c < 3 * n; c++) {
        const double x = s->halos->halo[s->wish[s->first + c / 3].halo].centre[c % 3];
        kith__set_real(xyz, c, q->precision, x);
    }
    s->kept = (struct kept){0};
    kith_status status = KITH_NO_MEMORY;
    if (sift(ctx, s, last, &s->kept) && copy_kept(q, s->threads, &s->kept)) {
        const kith_points centres = kith_points_packed(xyz, n, q->precision);
        const kith_points near = kith_points_packed(s->kept.xyz, s->kept.n, q->precision);
        kith_pairs_options options;
        kith_pairs_options_init(&options);
        options.against = &near;
        options.sorted = 1;
        options.extras = KITH_DISTANCES;
        options.block_pairs = BLOCK_PAIRS;
        s->row = 0;
        s->n = 0;
        status = kith_pairs_each(ctx, &centres, box, s->reach, &options, receive, s);
    } else {
        s->no_memory = true;
    }
    free_kept(&s->kept);
    KITH_CHECK(ctx, !s->no_memory, KITH_NO_MEMORY, "out of memory for the particles of spheres");
    KITH_TRY(status);
    s->begin[0] = 0;
    for (int64_t row = s->row; row < n; row++) { /* the first has all that is left */
        s->begin[row - s->row + 1] = s->n;
    }
    finish_rows(s, n);
    wish_again(s, n);
    return KITH_OK;
}

/** Search for all wishes, in turns by reach. */
static kith_status search_all(kith_ctx *ctx, const kith_box *box, struct search *s, void *xyz)
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
            KITH_TRY(search(ctx, box, s, last, xyz));
            s->first = last;
        }
        s->wishes = s->again;
    }
    return KITH_OK;
}

/** The first wishes: what lies within reach of every halo. */
static void make_wishes(struct search *s)
{
    const double *density = s->input->sphere_density;
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

kith_status kith__spheres_measure(kith_ctx *ctx, const kith_box *box,
                                  const struct kith__question *q, const kith_halo_input *input,
                                  kith_halos *halos)
{
    const size_t n = (size_t)halos->n;
    struct search s = {.question = q,
                       .input = input,
                       .halos = halos,
                       .farthest = INFINITY,
                       .threads = kith__threads_for(ctx, q->a.n)};
    for (int k = 0; k < 3; k++) {
        s.farthest = q->box_d.periodic[k] ? fmin(s.farthest, q->height[k]) : s.farthest;
    }
    void *xyz = kith__alloc(3 * n * (size_t)q->precision);
    s.wish = kith__alloc(n * sizeof *s.wish);
    s.begin = kith__alloc((n + 1) * sizeof *s.begin);
    s.wider = kith__alloc(n * sizeof *s.wider);
    kith_status status = KITH_NO_MEMORY;
    if (xyz && s.wish && s.begin && s.wider) {
        make_wishes(&s);
        status = search_all(ctx, box, &s, xyz);
    } else {
        kith__fail(ctx, status, "out of memory for the centres of %zu halos", n);
    }
    free(s.near);
    free(s.wish);
    free(s.begin);
    free(s.wider);
    free(xyz);
    return status;
}
