/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spherical overdensities (Lacey & Cole 1994, MNRAS 271, 676): the radius about a halo's centre
 * within which the mean density of all particles has a given value. Called by halos.c after the
 * backend has measured the groups.
 *
 * The pair search finds the particles around many centres at once; centres with similar search
 * radii share a search, so that small halos are not searched with the radius of large ones. A
 * centre whose sphere is larger than its search radius is searched again with a larger one, in
 * another round. A sphere does not depend on the radii of its searches (find_sphere), so that the
 * rounds of several ranks (team/spheres_team.c) find those of one process. Cost of a search:
 * O(particles), plus O(p log p) for the p pairs found of a centre, which are sorted by distance.
 *
 * A search requests its pairs sorted by centre, in blocks (receive), and finds the spheres of a
 * centre once the pairs of the next one arrive. The pair search sorts with the images of all
 * candidates of a query block (engine/cpu/sweep.h) in memory. Where the search radius is a large
 * part of a periodic box, or the pair search refuses so long a list, each search has one centre,
 * and its pairs come in any order.
 *
 * Most particles are near no centre, and sorting them into a grid would dominate the cost. So a
 * search is given only the particles in the cells of centres and in the cells next to these. The
 * cells are marked in a bit table by their hash; a collision only adds particles.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cells.h"
#include "pairs/list.h"

static const double first_reach = 1.5;    /* first search radius / radius of a sphere with the
                                             halo's mass and the lowest density */
static const double growth = 1.6;         /* search radius / radius of the search before, for a
                                             centre that is searched again */
static const double shared = 3;           /* largest / smallest search radius of centres that
                                             share a search */
static const double farthest_cell = 1e15; /* open axes: cells beyond this number are one cell, so
                                             that cell numbers fit an int64_t */

/** A particle near a centre. */
struct near {
    double r;  /**< distance from the centre [length] */
    double m;  /**< its mass; in finish_row, once sorted, the mass of all up to it [mass] */
    int32_t j; /**< its index in the caller's order */
};

/** A centre that is to be searched. */
struct pending {
    double reach; /**< search radius [length] */
    int32_t halo; /**< index of the halo, from 0 */
};

/** The particles that one search is given: those near its centres. */
struct chosen_set {
    int64_t n;      /**< number of these particles */
    void *xyz;      /**< [n][3] coordinates, in the points' precision [length] */
    int32_t *index; /**< [n] their indices in the caller's order */
};

/** State of all searches. */
struct search {
    const struct kith__question *question; /**< points and box */
    const kith_halo_input *input;          /**< masses and densities */
    kith_halos *halos;                     /**< the result */
    struct pending *pending; /**< [n_pending] centres of this round, largest reach first */
    int64_t n_pending;       /**< number of centres of this round */
    int64_t again; /**< number of centres to search in the next round; they overwrite the front of
                        `pending`, whose entries there have been searched already */
    double reach;  /**< radius of this search [length] */
    struct chosen_set chosen_set; /**< particles of this search */
    double farthest;              /**< largest permitted search radius [length] */
    /** Entry of `pending` that is centre 0 of this search: its centres are numbered from 0. */
    int64_t first;
    int64_t row;       /**< first centre of this search whose spheres are not found yet */
    struct near *near; /**< [n] particles around centres from `row` on, by centre */
    int64_t n;         /**< number of entries of `near` */
    int64_t capacity;  /**< capacity of `near` */
    int64_t *begin;    /**< [halos + 1] first entry of `near` of centre row + k, at index k */
    bool *wider;       /**< [halos] by centre of this search; true: it needs a larger radius */
    kith_ctx *ctx;     /**< context: threads, cancellation */
    bool no_memory;    /**< an allocation failed */
};

enum { MARKS = 1 << 24 }; /* bits of the table: 2 MB fit a level-2 cache */

/** Cells at least as wide as the radius of a search, and marks of those that hold a centre or are
 *  next to one that does: all particles within the radius of a centre are in marked cells. They are
 *  not the cells of the pair search. */
struct cell_marks {
    const struct kith__question *question; /**< the box */
    double scale[3];                       /**< cells for each unit of fractional coordinate */
    int64_t cells[3];                      /**< cells along a periodic axis; 0: the axis is open */
    uint64_t *marks;                       /**< [MARKS / 64] bit table, by the hash of a cell */
};

/** Order of qsort: largest reach first, ties by halo. */
static int by_reach(const void *a, const void *b)
{
    const struct pending *u = a, *v = b;
    if (u->reach != v->reach) {
        return u->reach < v->reach ? 1 : -1;
    }
    return (u->halo > v->halo) - (u->halo < v->halo);
}

/** Order of qsort: by distance, ties by index. */
static int by_distance(const void *a, const void *b)
{
    const struct near *u = a, *v = b;
    if (u->r != v->r) {
        return u->r < v->r ? -1 : 1;
    }
    return (u->j > v->j) - (u->j < v->j);
}

/** Return the radius of a sphere of this mass and density [length]. */
static double radius_of(double mass, double density)
{
    static const double pi = 3.14159265358979323846;
    return cbrt(3 * mass / (4 * pi * density));
}

/** Find one sphere. Let r_k be the distance of particle k, m_k the mass of the particles up to it.
 *  Between r_k and r_(k+1) the mass within a radius is m_k, so the mean density falls with the
 *  radius, and is `density` at radius_of(m_k), if that is between them. The search for k starts at
 *  the radius of a sphere with the halo's own mass, or at the search radius, which is smaller only
 *  where it is the largest permitted one: outwards if the density within the start is too high,
 *  else inwards.
 *  @param near     [n] particles by distance, with m the mass up to each
 *  @param mass     mass of the halo [mass]
 *  @param density  mean density of the sphere [mass / length^3]
 *  @param reach    search radius, within which all particles are listed [length]
 *  @return k, of a sphere of mass m_k; -1: there is no sphere; n: it is larger than the search
 *          radius */
static int64_t find_sphere(const struct near *near, int64_t n, double mass, double density,
                           double reach)
{
    const double start = fmin(radius_of(mass, density), reach);
    int64_t k = n - 1; /* then the last particle within `start` */
    while (k >= 0 && near[k].r > start) {
        k--;
    }
    if (k < 0) {
        return -1;
    }
    if (radius_of(near[k].m, density) >= start) { /* too dense within `start`: outwards */
        while (k + 1 < n && near[k + 1].r <= radius_of(near[k].m, density)) {
            k++;
        }
        /* beyond the search radius there may be particles that are not listed */
        return k + 1 == n && radius_of(near[k].m, density) > reach ? n : k;
    }
    while (k >= 0 && radius_of(near[k].m, density) < near[k].r) {
        k--;
    }
    return k;
}

enum { RUN = 4096 }; /* most particles that one qsort sorts: a qsort cannot be cancelled */

/** Merge the sorted runs from[0, half) and from[half, n). */
static void merge(const struct near *from, int64_t half, int64_t n, struct near *to)
{
    for (int64_t at = 0, a = 0, b = half; at < n; at++) {
        const bool first = b == n || (a < half && by_distance(&from[a], &from[b]) < 0);
        to[at] = from[first ? a++ : b++];
    }
}

/** Bottom-up merge sort by distance, of runs that qsort sorts.
 *  @param near   [n] the particles; overwritten
 *  @param spare  [n] second buffer
 *  @return near or spare, whichever holds the result; not sorted after cancellation */
static struct near *sort_near(kith_ctx *ctx, struct near *near, struct near *spare, int64_t n)
{
    for (int64_t at = 0; at < n && !kith__cancelled(ctx); at += RUN) {
        qsort(near + at, (size_t)(n - at < RUN ? n - at : RUN), sizeof *near, by_distance);
    }
    for (int64_t half = RUN; half < n && !kith__cancelled(ctx); half *= 2) {
        for (int64_t at = 0; at < n && !kith__cancelled(ctx); at += 2 * half) {
            const int64_t rest = n - at;
            merge(near + at, rest < half ? rest : half, rest < 2 * half ? rest : 2 * half,
                  spare + at);
        }
        struct near *const swap = near;
        near = spare;
        spare = swap;
    }
    return near;
}

/** Find the spheres of a centre, once all particles within its search radius are listed, and write
 *  them to its halo. A long list without memory for a second buffer is sorted by one qsort.
 *  @param row   number of the centre in this search
 *  @param list  [n] the particles, in any order; overwritten
 *  @return true when the centre must be searched again with a larger radius */
static bool finish_row(const struct search *s, int64_t row, struct near *list, int64_t n)
{
    kith_halo *halo = &s->halos->halo[s->pending[s->first + row].halo];
    bool wider = false;
    struct near *const spare = n > RUN ? kith__alloc((size_t)n * sizeof *spare) : NULL;
    struct near *near = list;
    if (spare) {
        near = sort_near(s->ctx, list, spare, n);
    } else if (n > 0) {
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
    free(spare);
    return wider;
}

/** Find the spheres of centre s->row + k: one piece of the loop of finish_rows. */
static void finish_one(void *state, int64_t k, int worker)
{
    (void)worker;
    struct search *s = state;
    const int64_t at = s->begin[k];
    s->wider[s->row + k] = finish_row(s, s->row + k, s->near + at, s->begin[k + 1] - at);
}

/** Find the spheres of centres [s->row, last), in parallel, and remove their particles from
 *  s->near. s->begin must have been set for indices 0 to last - s->row. Sets s->row to `last`. */
static void finish_rows(struct search *s, int64_t last)
{
    const int64_t rows = last - s->row;
    kith__pool_run(s->ctx->pool, kith__threads_for(s->ctx, s->question->a.n), rows, finish_one, s);
    const int64_t done = s->begin[rows];
    s->n -= done;
    if (done > 0 && s->n > 0) {
        memmove(s->near, s->near + done, (size_t)s->n * sizeof *s->near);
    }
    s->row = last;
}

/** Add those of the n centres of this search that need a larger radius to the list of centres to be
 *  searched again; none when this search had the largest permitted radius. */
static void list_again(struct search *s, int64_t n)
{
    for (int64_t row = 0; row < n && s->reach < s->farthest; row++) {
        if (s->wider[row]) {
            const int32_t halo = s->pending[s->first + row].halo;
            s->pending[s->again++] = (struct pending){fmin(s->reach * growth, s->farthest), halo};
        }
    }
}

/** Find the cell that holds a position.
 *  @param r          wrapped position [length]
 *  @param[out] cell  coordinates of the cell; along an open axis they may be negative */
static void find_cell(const struct cell_marks *cell_marks, const double r[3], int64_t cell[3])
{
    const struct kith__lattice_d *box = &cell_marks->question->box_d;
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(box, r, k);
        if (box->periodic[k]) {
            const int64_t last = cell_marks->cells[k] - 1;
            const int64_t c = (int64_t)((f - kith__floor(f)) * cell_marks->scale[k]);
            cell[k] = c < last ? c : last;
        } else {
            double u = f * cell_marks->scale[k];
            u = u < farthest_cell ? u : farthest_cell;
            u = u > -farthest_cell ? u : -farthest_cell;
            cell[k] = (int64_t)kith__floor(u);
        }
    }
}

/** Return the hash of a cell: the number of its bit in the table, below MARKS. The upper 24 bits of
 *  a product with an odd constant (multiplicative hashing) are the best mixed ones. */
static uint32_t bit_of(const int64_t cell[3])
{
    const uint64_t mixed = (uint64_t)cell[0] * 0x9e3779b97f4a7c15u +
                           (uint64_t)cell[1] * 0xc2b2ae3d27d4eb4fu +
                           (uint64_t)cell[2] * 0x165667b19e3779f9u;
    return (uint32_t)((mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u >> 40);
}

/** Mark the cell of a centre and the 26 cells around it, across periodic faces too. */
static void mark_around(struct cell_marks *cell_marks, const double centre[3])
{
    int64_t home[3];
    find_cell(cell_marks, centre, home);
    for (int side = 0; side < 27; side++) {
        int64_t cell[3] = {home[0] + side % 3 - 1, home[1] + side / 3 % 3 - 1,
                           home[2] + side / 9 - 1};
        for (int k = 0; k < 3; k++) {
            const int64_t n = cell_marks->cells[k];
            cell[k] = n > 0 ? (cell[k] + n) % n : cell[k];
        }
        const uint32_t bit = bit_of(cell);
        cell_marks->marks[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

/** Mark the cells of all centres and those around them.
 *  @param side  smallest width of cells [length] */
static void mark_cells(struct cell_marks *cell_marks, const kith_points *centres, double side)
{
    const struct kith__question *q = cell_marks->question;
    for (int k = 0; k < 3; k++) {
        cell_marks->scale[k] = q->height[k] / side;
        if (q->box_d.periodic[k]) {
            cell_marks->cells[k] = cell_marks->scale[k] > 1 ? (int64_t)cell_marks->scale[k] : 1;
            cell_marks->scale[k] = (double)cell_marks->cells[k];
        }
    }
    for (int64_t c = 0; c < centres->n; c++) {
        double r[3];
        int32_t image[3];
        (void)kith__load(q, centres, c, r, image);
        mark_around(cell_marks, r);
    }
}

/** State of the list of the particles near centres. */
struct choice {
    const struct kith__question *question; /**< points and box */
    const struct cell_marks *cell_marks;   /**< marked cells */
    uint8_t *keep;                         /**< [points] 1: the particle is chosen */
    struct chosen_set *chosen_set;         /**< the particles chosen */
};

/** Choose those of particles [begin, end) whose cell is marked: sets keep.
 *  @return how many are chosen */
static int64_t choose_range(void *state, int64_t begin, int64_t end)
{
    const struct choice *choice = state;
    const struct kith__question *q = choice->question;
    int64_t n = 0;
    for (int64_t p = begin; p < end; p++) {
        double r[3];
        int32_t image[3];
        int64_t cell[3];
        (void)kith__load(q, &q->a, p, r, image);
        find_cell(choice->cell_marks, r, cell);
        const uint32_t bit = bit_of(cell);
        choice->keep[p] = choice->cell_marks->marks[bit / 64] >> bit % 64 & 1;
        n += choice->keep[p];
    }
    return n;
}

/** Copy the coordinates and indices of the chosen particles from particle `begin` on to entries
 *  [at, stop) of the set. */
static void copy_chosen(void *state, int64_t begin, int64_t at, int64_t stop)
{
    const struct choice *choice = state;
    const struct kith__question *q = choice->question;
    const size_t size = (size_t)q->precision;
    const void *const from[3] = {q->a.x, q->a.y, q->a.z};
    char *to = choice->chosen_set->xyz;
    for (int64_t p = begin; at < stop; p++) {
        if (choice->keep[p]) {
            for (size_t k = 0; k < 3; k++) {
                memcpy(to + (3 * (size_t)at + k) * size,
                       (const char *)from[k] + (size_t)(p * q->a.stride) * size, size);
            }
            choice->chosen_set->index[at++] = (int32_t)p;
        }
    }
}

/** Choose the particles near the centres of a search, by their wrapped coordinates, and copy them;
 *  after cancellation only some.
 *  @param centres   positions of the centres, in the points' precision
 *  @param[out] out  the chosen particles
 *  @return false when out of memory */
static bool choose_particles(kith_ctx *ctx, const struct search *s, const kith_points *centres,
                             struct chosen_set *out)
{
    const struct kith__question *q = s->question;
    struct cell_marks cell_marks = {.question = q,
                                    .marks = calloc(MARKS / 64, sizeof *cell_marks.marks)};
    struct choice choice = {q, &cell_marks, kith__alloc((size_t)q->a.n), out};
    struct kith__listing list = {.n = q->a.n,
                                 .ranges = kith__threads_for(ctx, q->a.n) +
                                           (int)(q->a.n / KITH_RANGE),
                                 .state = &choice,
                                 .count = choose_range,
                                 .write = copy_chosen};
    list.first = kith__alloc((size_t)(list.ranges + 1) * sizeof *list.first);
    bool allocated = cell_marks.marks && choice.keep && list.first;
    if (allocated) {
        /* width of cells: the search radius, and a bound on the rounding error of a distance in
         * the points' precision */
        mark_cells(&cell_marks, centres,
                   s->reach * (1 + 1e-5) + 16 * kith__epsilon(q) * q->period_sum);
    }
    if (allocated && kith__list_count(ctx, &list) == KITH_OK) {
        out->n = list.first[list.ranges];
        out->xyz = kith__alloc(3 * (size_t)q->precision * (size_t)out->n);
        out->index = kith__alloc((size_t)out->n * sizeof *out->index);
        allocated = out->xyz && out->index;
        if (allocated) {
            kith__list_write(ctx, &list);
        }
    }
    free(list.first);
    free(choice.keep);
    free(cell_marks.marks);
    return allocated;
}

static void free_chosen(struct chosen_set *chosen_set)
{
    free(chosen_set->index);
    free(chosen_set->xyz);
}

/** Make room in s->near for n more particles. @return false, and set s->no_memory, when out of
 *  memory */
static bool need_near(struct search *s, int64_t n)
{
    if (s->n + n > s->capacity) {
        const int64_t capacity = 2 * (s->n + n);
        struct near *grown = realloc(s->near, (size_t)capacity * sizeof *grown);
        if (!grown) {
            s->no_memory = true;
            return false;
        }
        s->near = grown;
        s->capacity = capacity;
    }
    return true;
}

/** State of the loop that copies a block of pairs to the list of particles around centres. */
struct near_loop {
    const struct search *search; /**< the search */
    const kith_pairs *block;     /**< pairs of a centre i and a particle j of the chosen set */
    struct near *to;             /**< [block->n] the copies */
};

/** Copy pairs [begin, end) of the block. */
static void copy_near(void *state, int64_t begin, int64_t end)
{
    const struct near_loop *loop = state;
    const struct search *s = loop->search;
    const kith_precision precision = s->question->precision;
    const void *masses = s->input->masses;
    for (int64_t p = begin; p < end; p++) {
        const int32_t j = s->chosen_set.index[loop->block->j[p]];
        loop->to[p] = (struct near){kith__real_at(loop->block->distances, p, precision),
                                    masses ? kith__real_at(masses, j, precision) : 1, j};
    }
}

/** kith_block_fn: append a block of pairs to s->near, and find the spheres of the centres before
 *  that of its last pair: pairs are sorted by centre, so all theirs have arrived. With a single
 *  centre there are none.
 *  @return 0 to continue; 1 after a failure or cancellation */
static int receive(void *user, const kith_pairs *block, int64_t first)
{
    struct search *s = user;
    (void)first;
    if (block->n == 0 || !need_near(s, block->n)) {
        return s->no_memory;
    }
    struct near_loop loop = {s, block, s->near + s->n};
    kith__loop(s->ctx, block->n, copy_near, &loop);
    const int64_t last = block->i[block->n - 1];
    s->begin[0] = 0;
    /* p: the first pair of the block that belongs to a later centre than `row` */
    for (int64_t p = 0, row = s->row; row < last; row++) {
        while (block->i[p] <= row) {
            p++;
        }
        s->begin[row - s->row + 1] = s->n + p;
    }
    s->n += block->n;
    finish_rows(s, last);
    return kith__cancelled(s->ctx);
}

/** Find the particles within the search radius of the centres, and the spheres of the centres
 *  before the last one that has pairs; the particles of that one remain in s->near.
 *  @param sorted   1: pairs are sorted by centre; 0: in any order, for a single centre
 *  @param centres  positions of the centres, in the points' precision */
static kith_status find_near(kith_ctx *ctx, const kith_box *box, struct search *s, int sorted,
                             const kith_points *centres)
{
    enum { BLOCK_PAIRS = 1 << 20 }; /* most pairs of one call of `receive` */
    const struct kith__question *q = s->question;
    s->no_memory = !choose_particles(ctx, s, centres, &s->chosen_set);
    KITH_TRY(kith__proceed(ctx));
    kith_status status = KITH_OK;
    if (!s->no_memory) {
        const kith_points near = kith_points_packed(s->chosen_set.xyz, s->chosen_set.n,
                                                    q->precision);
        kith_pairs_options options;
        kith_pairs_options_init(&options);
        options.against = &near;
        options.sorted = sorted;
        options.extras = KITH_DISTANCES;
        options.block_pairs = BLOCK_PAIRS;
        s->row = 0;
        s->n = 0;
        status = kith__pairs_each(ctx, centres, box, s->reach, &options, receive, s);
    }
    KITH_CHECK(ctx, !s->no_memory, KITH_NO_MEMORY, "out of memory for the particles of spheres");
    return status;
}

/** Search around the centres pending[s->first, last), and find their spheres. Centres that need a
 *  larger radius are listed for the next round.
 *  @param sorted  1: pairs are sorted by centre; 0: in any order, for a single centre
 *  @param xyz     scratch memory for the coordinates of the centres, 3 for each
 *  @return KITH_OK; KITH_LIMIT when sorting the pairs would take too much memory: nothing was done
 *          then; or another status of kith_pairs_each */
static kith_status search(kith_ctx *ctx, const kith_box *box, struct search *s, int64_t last,
                          int sorted, void *xyz)
{
    const kith_precision precision = s->question->precision;
    const int64_t n = last - s->first;
    for (int64_t c = 0; c < 3 * n; c++) {
        const double x = s->halos->halo[s->pending[s->first + c / 3].halo].centre[c % 3];
        kith__set_real(xyz, c, precision, x);
    }
    const kith_points centres = kith_points_packed(xyz, n, precision);
    s->chosen_set = (struct chosen_set){0};
    const kith_status status = find_near(ctx, box, s, sorted, &centres);
    free_chosen(&s->chosen_set);
    KITH_TRY(status);
    s->begin[0] = 0;
    /* all entries of s->near are of centre s->row; the centres after it have none */
    for (int64_t row = s->row; row < n; row++) {
        s->begin[row - s->row + 1] = s->n;
    }
    finish_rows(s, n);
    KITH_TRY(kith__proceed(ctx));
    list_again(s, n);
    return KITH_OK;
}

/** Return true when the search radius is more than a quarter of the box's height along a periodic
 *  axis: sorting pairs would then need much memory for images. */
static bool reaches_far(const struct search *s)
{
    const struct kith__question *q = s->question;
    bool far = false;
    for (int k = 0; k < 3; k++) {
        far = far || (q->box_d.periodic[k] && 4 * s->reach > q->height[k]);
    }
    return far;
}

/** Search around the pending centres once. Centres whose radii differ at most by the factor
 *  `shared` share a search; each has a search of its own where pairs cannot be sorted.
 *  @param xyz  scratch memory for the coordinates of all centres, 3 for each */
static kith_status search_round(kith_ctx *ctx, const kith_box *box, struct search *s, void *xyz)
{
    qsort(s->pending, (size_t)s->n_pending, sizeof *s->pending, by_reach);
    s->again = 0;
    for (int64_t last = 0; last < s->n_pending;) {
        s->first = last;
        s->reach = kith__rounded(s->pending[s->first].reach, s->question->precision);
        while (last < s->n_pending && kith__spheres_share(s->pending[last].reach, s->reach)) {
            last++;
        }
        kith_status status = KITH_LIMIT;
        if (!reaches_far(s)) {
            status = search(ctx, box, s, last, 1, xyz);
        }
        if (status == KITH_LIMIT) {
            last = s->first + 1;
            status = search(ctx, box, s, last, 0, xyz);
        }
        KITH_TRY(status);
    }
    return KITH_OK;
}

bool kith__spheres_share(double reach, double largest)
{
    return reach * shared >= largest;
}

bool kith__spheres_wanted(const kith_halo_input *input)
{
    bool wanted = false;
    for (int t = 0; t < KITH_SPHERES; t++) {
        wanted = wanted || input->sphere_density[t] > 0;
    }
    return wanted;
}

/** Return the largest permitted search radius [length]. */
static double farthest_of(const struct kith__question *q)
{
    double farthest = kith__shortest_period(q); /* distance of a centre from its nearest image */
    for (int k = 0; k < 3; k++) {
        const double most = 0.999 * KITH_MAX_IMAGES * q->height[k]; /* limit of the pair search */
        farthest = q->box_d.periodic[k] ? fmin(farthest, most) : farthest;
    }
    return kith__rounded(farthest, q->precision);
}

void kith__spheres_begin(const struct kith__question *q, const kith_halo_input *input,
                         const kith_halos *halos, double *reach)
{
    const double *density = input->sphere_density;
    const double farthest = farthest_of(q);
    double lowest = INFINITY;
    for (int t = 0; t < KITH_SPHERES; t++) {
        lowest = density[t] > 0 ? fmin(lowest, density[t]) : lowest;
    }
    for (int64_t h = 0; h < halos->n; h++) {
        reach[h] = fmin(first_reach * radius_of(halos->halo[h].mass, lowest), farthest);
    }
}

kith_status kith__spheres_round(kith_ctx *ctx, const kith_box *box, const struct kith__question *q,
                                const kith_halo_input *input, kith_halos *halos, double *reach,
                                int64_t *again)
{
    const size_t n = (size_t)halos->n;
    struct search s = {
        .ctx = ctx, .question = q, .input = input, .halos = halos, .farthest = farthest_of(q)};
    void *xyz = kith__alloc(3 * n * (size_t)q->precision);
    s.pending = kith__alloc(n * sizeof *s.pending);
    s.begin = kith__alloc((n + 1) * sizeof *s.begin);
    s.wider = kith__alloc(n * sizeof *s.wider);
    kith_status status = KITH_NO_MEMORY;
    if (xyz && s.pending && s.begin && s.wider) {
        for (int64_t h = 0; h < halos->n; h++) {
            if (reach[h] > 0) {
                s.pending[s.n_pending++] = (struct pending){reach[h], (int32_t)h};
            }
            reach[h] = 0;
        }
        status = search_round(ctx, box, &s, xyz);
        for (int64_t k = 0; k < s.again; k++) {
            reach[s.pending[k].halo] = s.pending[k].reach;
        }
        *again = s.again;
    } else {
        kith__fail(ctx, status, "out of memory for the centres of %zu halos", n);
    }
    free(s.near);
    free(s.pending);
    free(s.begin);
    free(s.wider);
    free(xyz);
    return status;
}

kith_status kith__spheres_measure(kith_ctx *ctx, const kith_box *box,
                                  const struct kith__question *q, const kith_halo_input *input,
                                  kith_halos *halos)
{
    int64_t again = halos->n;
    if (!kith__spheres_wanted(input)) {
        return KITH_OK;
    }
    double *reach = kith__alloc((size_t)halos->n * sizeof *reach);
    KITH_CHECK(ctx, reach, KITH_NO_MEMORY, "out of memory for the centres of %lld halos",
               (long long)halos->n);
    kith__spheres_begin(q, input, halos, reach);
    kith_status status = KITH_OK;
    while (again > 0 && status == KITH_OK) {
        status = kith__spheres_round(ctx, box, q, input, halos, reach, &again);
    }
    free(reach);
    return status;
}
