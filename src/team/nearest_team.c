/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours over all ranks. Particles of both sets are dealt to domains. Each rank finds
 * the k nearest neighbours of its particles among the candidates that it was dealt. The distance of
 * the last one is a radius within which all k neighbours are. A particle whose radius reaches the
 * candidates of another rank is sent there as a query, and that rank's k nearest candidates within
 * the radius come back. The two lists are merged in the order of kith_nearest: the order of
 * candidates on a rank is that of their global indices, and r^2 has the bits of one process.
 *
 * Candidates are the particles that may be neighbours: those of `against`, or all. A rank with
 * fewer than k + 1 of them, for the k neighbours of a particle and the particle itself, would have
 * to search many images of the box, or would find no radius. So domains are joined, in the order of
 * the ranks, until each has enough. Where there are too few in all, or where a rank finds that
 * neighbours would be too many boxes away, one rank gets all particles, and its search is that of
 * one process.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/owned.h"
#include "core/sized.h"
#include "ghosts.h"
#include "nearest/nearest.h"

/** Buffers of the rows of a search: the arrays of a kith_nearest. */
enum { ROW_COUNTS, ROW_J, ROW_DISTANCES, ROW_VECTORS, ROW_SHIFTS, ROW_BUFFERS };

/** Buffers of the team's scratch memory. */
enum {
    BASE = KITH_TEAM_QUESTION,                /**< global indices, of two sets */
    DEALT = BASE + 2,                         /**< particles, of two sets */
    COUNTS = DEALT + 2 * KITH_DEALT_BUFFERS,  /**< particles of each rank */
    HOSTS,                                    /**< ranks of domains that are joined */
    OWN_ROWS,                                 /**< rows of the particles dealt to this rank */
    GUEST_ROWS = OWN_ROWS + ROW_BUFFERS,      /**< rows of queries of other ranks */
    RADII = GUEST_ROWS + ROW_BUFFERS,         /**< radius of each particle */
    QUERIES,                                  /**< route of queries */
    QUERY_XYZ = QUERIES + KITH_ROUTE_BUFFERS, /**< coordinates of queries of other ranks */
    QUERY_RADII,                              /**< radii of queries of other ranks */
    QUERY_ITEMS,                              /**< numbers of queries on the ranks that sent them */
    ANSWERS,                                  /**< neighbours of queries of other ranks */
    TARGETS,                                  /**< rank of the query of each of them */
    BACK,                                     /**< route of neighbours to their queries */
    ARRIVED = BACK + KITH_ROUTE_BUFFERS,      /**< neighbours from other ranks */
    ROW,                                      /**< one row, while it is merged */
    GLOBAL_J,                                 /**< global indices of the neighbours in all rows */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_TEAM_BUFFERS, "every purpose needs its own buffer");

/* Numbers of the arrays in kith__owned.array. */
enum { OWNED_COUNTS, OWNED_J, OWNED_DISTANCES, OWNED_VECTORS, OWNED_SHIFTS };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_TEAM_NEAREST_0_2 = KITH_SIZE_UP_TO(kith_team_nearest, owner) };

/** A neighbour of a query, in a message to the rank of the query; also one of a row. */
struct neighbour {
    double r2;        /**< r^2 in the precision of the points [length^2] */
    int64_t j;        /**< global index of the neighbour */
    double vector[3]; /**< vector to it, in the precision of the points [length] */
    int32_t shift[3]; /**< shift S of the neighbour; 0 where shifts are not wanted */
    int32_t query;    /**< number of the query's particle on its rank: its row there */
    int32_t place;    /**< index of the neighbour in the row of the rank that found it */
};

/** One call. */
struct nearest_team {
    kith_team *team;                   /**< the team */
    const kith_points *points;         /**< the particles as given */
    const kith_box *box;               /**< the box as given */
    int64_t k;                         /**< neighbours of a particle */
    const kith_nearest_options *given; /**< the options as given */
    kith_nearest_options options;      /**< the options, of full size (core/sized.h) */
    kith_team_nearest *out;            /**< the result, of full size */
    struct kith__question q;           /**< checked arguments; cutoff 0: any distance */
    int n_sets;                        /**< sets of particles, 1 or 2 */
    struct kith__set set[2];           /**< particles of this rank, as given */
    struct kith__dealt dealt[2];       /**< particles dealt to this rank */
    struct kith__bounds bounds;        /**< of all particles of all ranks */
    struct kith__domains domains;      /**< the decomposition */
    kith_nearest rows;                 /**< [dealt[0].n] rows of this rank's particles */
    int64_t *global;                   /**< [dealt[0].n][k] global index of each neighbour, or -1 */
};

/** Check the arguments of this rank, and set w->options and w->q. */
static kith_status check(struct nearest_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    const kith_team_nearest *out = w->out;
    const kith_nearest_options *o = &w->options;
    KITH_TRY(kith__team_check_out(w->team, out->owner, out->j || out->counts, out->memory));
    KITH_TRY(kith__team_host(w->team, "points", w->points));
    KITH_TRY(kith__nearest_options(ctx, w->k, w->given, &w->options));
    KITH_TRY(o->against ? kith__team_host(w->team, "against", o->against) : KITH_OK);
    KITH_CHECK(ctx, !o->batch, KITH_UNSUPPORTED, "options.batch: teams do not take batches yet");
    KITH_CHECK(ctx, !o->radii && !o->radii_against && o->radius_rule == KITH_RADIUS_NONE,
               KITH_UNSUPPORTED, "options.radii: teams find no neighbours by radii yet");
    return o->cutoff == 0 ? kith__question_space(ctx, w->points, o->against, w->box, &w->q)
                          : kith__question_init(ctx, w->points, o->against, w->box, o->cutoff,
                                                "options.cutoff", &w->q);
}

/** Check that the arguments that must be equal on all ranks are. */
static kith_status check_equal(const struct nearest_team *w)
{
    struct kith__equal equal[KITH_TEAM_EQUALS];
    const kith_nearest_options *o = &w->options;
    int n = kith__team_space(w->points, w->box, equal);
    equal[n++] = (struct kith__equal){"k", w->k};
    equal[n++] = (struct kith__equal){"options.cutoff", kith__bits(o->cutoff)};
    equal[n++] = (struct kith__equal){"options.extras", (int64_t)o->extras};
    equal[n++] = (struct kith__equal){"options.against", o->against != NULL};
    return kith__team_equal(w->team, equal, n);
}

/* ---------------------------------------------------------------------------------- deal */

/** Deal the sets. Collective. */
static kith_status deal_sets(struct nearest_team *w)
{
    for (int s = 0; s < w->n_sets; s++) {
        KITH_TRY(kith__team_deal(w->team, DEALT + s * KITH_DEALT_BUFFERS, &w->q, &w->set[s],
                                 &w->domains, &w->dealt[s]));
    }
    return KITH_OK;
}

/** Particles and candidates that a rank was dealt. */
struct share {
    int64_t own;        /**< particles */
    int64_t candidates; /**< particles of the set of candidates */
};

/** Join consecutive domains until each has enough candidates, or all are one. Those at the end that
 *  do not have enough are joined with the ones before them.
 *  @param share      [ranks] what each rank was dealt
 *  @param least      enough: k + 1 candidates
 *  @param[out] host  [ranks] first rank of the domains that each domain is joined with
 *  @return true when a rank that has particles has too few candidates, so that the sets are to be
 *          dealt again by host */
static bool join_domains(const struct share *share, int ranks, int64_t least, int *host)
{
    int first = 0;          /* first rank of the domains that are being joined */
    int previous = 0;       /* first rank of the domains that were joined before them */
    int64_t candidates = 0; /* of the domains that are being joined */
    bool poor = false;
    for (int r = 0; r < ranks; r++) {
        host[r] = first;
        candidates += share[r].candidates;
        poor = poor || (share[r].own + share[r].candidates > 0 && share[r].candidates < least);
        if (candidates >= least) {
            previous = first;
            first = r + 1;
            candidates = 0;
        }
    }
    for (int r = first; r < ranks; r++) {
        host[r] = previous;
    }
    return poor;
}

/** Deal the sets so that each rank with particles has more than k candidates, or one has all.
 *  Collective. */
static kith_status deal_enough(struct nearest_team *w)
{
    kith_team *team = w->team;
    struct share *share = NULL;
    int *host = NULL;
    KITH_TRY(deal_sets(w));
    kith_status status = kith__team_need(team, COUNTS, team->ranks, sizeof *share, &share);
    status = status ? status : kith__team_need(team, HOSTS, team->ranks, sizeof *host, &host);
    KITH_AGREE(team, status);
    const struct share own = {w->dealt[0].n, w->dealt[w->n_sets - 1].n};
    KITH_TRY(kith__team_gather(team, &own, sizeof own, share));
    if (join_domains(share, team->ranks, w->k + 1, host)) {
        w->domains.host = host;
        KITH_TRY(deal_sets(w));
    }
    return KITH_OK;
}

/* -------------------------------------------------------------------------------- search */

/** Find the nearest candidates of this rank for each query particle. Not collective.
 *  @param a          query particles
 *  @param cross      false: the query particles are the candidates
 *  @param cutoff     0: any distance
 *  @param buffer     first of ROW_BUFFERS buffers
 *  @param[out] rows  [a->n][k] their rows, in these buffers; always with vectors, from which r^2 is
 *                    computed */
static kith_status search(struct nearest_team *w, const kith_points *a, bool cross, double cutoff,
                          int buffer, kith_nearest *rows)
{
    kith_team *team = w->team;
    kith_ctx *ctx = team->ctx;
    const struct kith__dealt *candidates = &w->dealt[w->n_sets - 1];
    const unsigned extras = w->options.extras;
    const size_t real = (size_t)w->q.precision;
    const int64_t n = a->n * w->k;
    struct kith__question q = w->q;
    q.a = *a;
    q.b = kith__dealt_points(&q, candidates, 0, candidates->n);
    q.cross = cross;
    q.cutoff = cutoff;
    *rows = (kith_nearest){.rows = a->n, .k = w->k};
    KITH_TRY(kith__team_need(team, buffer + ROW_COUNTS, a->n, sizeof *rows->counts, &rows->counts));
    KITH_TRY(kith__team_need(team, buffer + ROW_J, n, sizeof *rows->j, &rows->j));
    KITH_TRY(kith__team_need(team, buffer + ROW_VECTORS, n, 3 * real, &rows->vectors));
    if (extras & KITH_DISTANCES) {
        KITH_TRY(kith__team_need(team, buffer + ROW_DISTANCES, n, real, &rows->distances));
    }
    if (extras & KITH_SHIFTS) {
        KITH_TRY(
            kith__team_need(team, buffer + ROW_SHIFTS, n, 3 * sizeof *rows->shifts, &rows->shifts));
    }
    return kith__end_call(ctx, ctx->backend->nearest->find(ctx, &q, NULL, rows));
}

/** Return r^2 of vector `at` of an array, rounded as the definition of a pair has it
 *  (engine/pair_real.h), in the precision of the array. */
static double square_of(const void *vectors, int64_t at, kith_precision precision)
{
    if (precision == KITH_FLOAT) {
        const float *d = (const float *)vectors + 3 * at;
        return (double)((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
    }
    const double *d = (const double *)vectors + 3 * at;
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/** Return neighbour e of row p, all but its query.
 *  @param global  [candidates] global indices of this rank's candidates */
static struct neighbour neighbour_of(const struct nearest_team *w, const kith_nearest *rows,
                                     const int64_t *global, int64_t p, int64_t e)
{
    const kith_precision precision = w->q.precision;
    const int64_t at = p * w->k + e;
    struct neighbour one = {.r2 = square_of(rows->vectors, at, precision),
                            .j = global[rows->j[at]],
                            .place = (int32_t)e};
    for (int m = 0; m < 3; m++) {
        one.vector[m] = kith__real_at(rows->vectors, 3 * at + m, precision);
        one.shift[m] = rows->shifts ? rows->shifts[3 * at + m] : 0;
    }
    return one;
}

/** State of the loop over this rank's particles. */
struct own_loop {
    struct nearest_team *w; /**< the call */
    double *radius;         /**< [dealt[0].n] receives the radii [length] */
};

/** kith__range_fn: set the radius of each particle, and the global indices of the neighbours found
 *  so far. The radius of a particle with fewer than k neighbours is the cutoff, or infinite. */
static void read_rows(void *state, int64_t begin, int64_t end)
{
    const struct own_loop *loop = state;
    const struct nearest_team *w = loop->w;
    static const double more = 1 + 1e-6; /* margin for the rounding of r^2, root and cutoff */
    const double any = w->q.cutoff > 0 ? w->q.cutoff : INFINITY;
    /* r^2 may have underflowed: to 0 or to a number of few digits */
    const double least = w->q.precision == KITH_FLOAT ? (double)FLT_MIN : DBL_MIN;
    const int64_t *global = w->dealt[w->n_sets - 1].global;
    const int64_t k = w->k;
    for (int64_t p = begin; p < end && !kith__skip(w->team->ctx, p - begin, 4 * k); p++) {
        const bool full = w->rows.counts[p] == k;
        const int64_t last = p * k + k - 1;
        const double r2 = full ? square_of(w->rows.vectors, last, w->q.precision) : 0;
        loop->radius[p] = full ? sqrt(r2 + least) * more : any * more;
        for (int64_t e = 0; e < k; e++) {
            const int32_t j = w->rows.j[p * k + e];
            w->global[p * k + e] = j >= 0 ? global[j] : -1;
        }
    }
}

/** Find the neighbours of this rank's particles among its own candidates. Not collective.
 *  @param[out] radius  [dealt[0].n] distance within which all k neighbours of each are [length] */
static kith_status search_own(struct nearest_team *w, double **radius)
{
    kith_team *team = w->team;
    const int64_t n = w->dealt[0].n;
    const kith_points own = kith__dealt_points(&w->q, &w->dealt[0], 0, n);
    KITH_TRY(search(w, &own, w->n_sets == 2, w->q.cutoff, OWN_ROWS, &w->rows));
    KITH_TRY(kith__team_need(team, RADII, n, sizeof **radius, radius));
    KITH_TRY(kith__team_need(team, GLOBAL_J, n * w->k, sizeof *w->global, &w->global));
    struct own_loop loop = {w, *radius};
    kith__loop(team->ctx, n, read_rows, &loop);
    return kith__proceed(team->ctx);
}

/* ------------------------------------------------------------------- queries of other ranks */

/** The queries that other ranks have sent to this one. */
struct guests {
    struct kith__route route; /**< from their ranks to here */
    void *xyz;                /**< [route.received][3] coordinates */
    double *radius;           /**< [route.received] radii [length] */
    int32_t *item;            /**< [route.received] numbers of the particles on their ranks */
    int64_t n;                /**< neighbours found for them */
    struct neighbour *found;  /**< [n] these neighbours */
    int32_t *target;          /**< [n] rank of the query of each */
};

/** Send each particle as a query to the other ranks that have candidates within its radius, and
 *  receive the queries of other ranks. Collective.
 *  @param radius  [dealt[0].n] from search_own [length] */
static kith_status send_queries(struct nearest_team *w, const double *radius, struct guests *guests)
{
    kith_team *team = w->team;
    const struct kith__dealt *own = &w->dealt[0];
    const size_t size = 3 * (size_t)w->q.precision;
    const kith_points points = kith__dealt_points(&w->q, own, 0, own->n);
    const kith_points other = kith__dealt_points(&w->q, &w->dealt[1], 0, w->dealt[1].n);
    struct kith__range3 inside, *box = NULL;
    KITH_TRY(
        kith__team_box_pair(team, &w->q, &points, w->n_sets == 2 ? &other : NULL, &inside, &box));
    KITH_TRY(kith__team_reach_each(team, QUERIES, &w->q, &w->bounds, box, &inside, &points, radius,
                                   &guests->route));
    const int64_t n = guests->route.received;
    kith_status status = kith__team_need(team, QUERY_XYZ, n, size, &guests->xyz);
    status = status ? status
                    : kith__team_need(team, QUERY_RADII, n, sizeof(double), &guests->radius);
    status = status ? status
                    : kith__team_need(team, QUERY_ITEMS, n, sizeof(int32_t), &guests->item);
    KITH_AGREE(team, status);
    KITH_TRY(kith__route_send(team, &guests->route, own->xyz, size, guests->xyz));
    KITH_TRY(kith__route_send(team, &guests->route, radius, sizeof *radius, guests->radius));
    return kith__route_items(team, &guests->route, guests->item);
}

/** Return the cutoff of the search for queries: the largest radius, but not more than the cutoff of
 *  the call; 0: any distance. Rounded to float it still bounds all neighbours, as radii have a
 *  margin of a millionth. */
static double guests_cutoff(const struct nearest_team *w, const struct guests *guests)
{
    const double most = w->q.precision == KITH_FLOAT ? 1e19 : 1e150; /* its square is finite */
    double radius = 0;
    for (int64_t g = 0; g < guests->route.received; g++) {
        radius = fmax(radius, guests->radius[g]);
    }
    if (!(radius < most) || (w->q.cutoff > 0 && radius >= w->q.cutoff)) {
        return w->q.cutoff;
    }
    return kith__rounded(radius, w->q.precision);
}

/** Return true when entry e of row p is a neighbour within the radius of its query. */
static bool is_found(const struct nearest_team *w, const kith_nearest *rows, double radius,
                     int64_t p, int64_t e)
{
    return e < rows->counts[p] &&
           square_of(rows->vectors, p * w->k + e, w->q.precision) <= radius * radius;
}

/** Find the neighbours of queries among this rank's candidates. Not collective. */
static kith_status search_guests(struct nearest_team *w, struct guests *guests)
{
    kith_team *team = w->team;
    const struct kith__dealt *candidates = &w->dealt[w->n_sets - 1];
    const int64_t n = guests->route.received;
    const kith_points points = kith_points_packed(guests->xyz, n, w->q.precision);
    kith_nearest rows;
    KITH_TRY(search(w, &points, true, guests_cutoff(w, guests), GUEST_ROWS, &rows));
    guests->n = 0;
    for (int64_t g = 0; g < n && !kith__skip(team->ctx, g, w->k); g++) {
        for (int64_t e = 0; is_found(w, &rows, guests->radius[g], g, e); e++) {
            guests->n++;
        }
    }
    KITH_TRY(kith__proceed(team->ctx));
    KITH_TRY(kith__team_need(team, ANSWERS, guests->n, sizeof *guests->found, &guests->found));
    KITH_TRY(kith__team_need(team, TARGETS, guests->n, sizeof *guests->target, &guests->target));
    int64_t at = 0;
    int rank = 0;
    for (int64_t g = 0; g < n; g++) {
        while (g >= guests->route.ranges.from[rank + 1]) {
            rank++;
        }
        for (int64_t e = 0; is_found(w, &rows, guests->radius[g], g, e); e++) {
            guests->found[at] = neighbour_of(w, &rows, candidates->global, g, e);
            guests->found[at].query = guests->item[g];
            guests->target[at++] = rank;
        }
    }
    return kith__proceed(team->ctx);
}

/* --------------------------------------------------------------------------------- merge */

/** Compare two neighbours of one query: by r^2, then j, then S. Images of one j are found by one
 *  rank, whose row has them in the order of S: `place` stands for it. */
static int by_distance(const struct neighbour *a, const struct neighbour *b)
{
    if (a->r2 != b->r2) {
        return a->r2 < b->r2 ? -1 : 1;
    }
    if (a->j != b->j) {
        return a->j < b->j ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

/** Compare two neighbours, for qsort: by query, then by_distance. */
static int by_query(const void *left, const void *right)
{
    const struct neighbour *a = left;
    const struct neighbour *b = right;
    if (a->query != b->query) {
        return a->query < b->query ? -1 : 1;
    }
    return by_distance(a, b);
}

/** Write entry `at` of the rows of this rank's particles. */
static void write_entry(struct nearest_team *w, int64_t at, const struct neighbour *one)
{
    const kith_precision precision = w->q.precision;
    w->global[at] = one->j;
    if (w->rows.distances) {
        const double distance = precision == KITH_FLOAT ? (double)sqrtf((float)one->r2)
                                                        : sqrt(one->r2);
        kith__set_real(w->rows.distances, at, precision, distance);
    }
    for (int m = 0; m < 3; m++) {
        kith__set_real(w->rows.vectors, 3 * at + m, precision, one->vector[m]);
        if (w->rows.shifts) {
            w->rows.shifts[3 * at + m] = one->shift[m];
        }
    }
}

/** Merge neighbours that other ranks have found into the row of particle p: the first k of both.
 *  @param more  [n_more] these neighbours, sorted by_distance
 *  @param row   [k] scratch */
static void merge_row(struct nearest_team *w, int64_t p, const struct neighbour *more,
                      int64_t n_more, struct neighbour *row)
{
    const int64_t n_row = w->rows.counts[p];
    const int64_t *global = w->dealt[w->n_sets - 1].global;
    int64_t n = 0;
    int64_t in_row = 0;
    int64_t in_more = 0;
    for (int64_t e = 0; e < n_row; e++) {
        row[e] = neighbour_of(w, &w->rows, global, p, e);
    }
    for (; n < w->k && (in_row < n_row || in_more < n_more); n++) {
        const bool from_row = in_more == n_more ||
                              (in_row < n_row && by_distance(&row[in_row], &more[in_more]) < 0);
        write_entry(w, p * w->k + n, from_row ? &row[in_row++] : &more[in_more++]);
    }
    w->rows.counts[p] = (int32_t)n;
}

/** Merge all neighbours that other ranks have found.
 *  @param found  [n] these neighbours */
static kith_status merge(struct nearest_team *w, struct neighbour *found, int64_t n)
{
    kith_ctx *ctx = w->team->ctx;
    struct neighbour *row = NULL;
    KITH_TRY(kith__team_need(w->team, ROW, w->k, sizeof *row, &row));
    qsort(found, (size_t)n, sizeof *found, by_query);
    int64_t end;
    for (int64_t begin = 0; begin < n && !kith__skip(ctx, begin, w->k); begin = end) {
        end = begin + 1;
        while (end < n && found[end].query == found[begin].query) {
            end++;
        }
        merge_row(w, found[begin].query, found + begin, end - begin, row);
    }
    return kith__proceed(ctx);
}

/** Find the neighbours of this rank's particles among the candidates of all ranks. Collective. */
static kith_status search_all(struct nearest_team *w)
{
    kith_team *team = w->team;
    double *radius = NULL;
    struct neighbour *arrived = NULL;
    struct guests guests;
    struct kith__route back;
    KITH_AGREE(team, search_own(w, &radius));
    KITH_TRY(send_queries(w, radius, &guests));
    KITH_AGREE(team, search_guests(w, &guests));
    KITH_TRY(kith__route_to(team, BACK, guests.n, guests.target, &back));
    KITH_AGREE(team, kith__team_need(team, ARRIVED, back.received, sizeof *arrived, &arrived));
    KITH_TRY(kith__route_send(team, &back, guests.found, sizeof *arrived, arrived));
    KITH_AGREE(team, merge(w, arrived, back.received));
    team->load.owned = w->dealt[0].n + (w->n_sets == 2 ? w->dealt[1].n : 0);
    team->load.ghosts = guests.route.received;
    return kith__team_measure_load(team);
}

/* -------------------------------------------------------------------------------- result */

/** Make the arrays of the result. */
static kith_status need_result(struct nearest_team *w)
{
    kith_ctx *ctx = w->team->ctx;
    kith_team_nearest *out = w->out;
    struct kith__owned *owned = kith__owned_in(ctx, KITH_HOST, &out->owner);
    const unsigned extras = w->options.extras;
    const int64_t rows = w->points->n;
    const size_t real = (size_t)w->q.precision;
    const struct {
        bool wanted;  /**< the result has the array */
        size_t size;  /**< bytes of an element */
        int64_t each; /**< elements of a row */
    } array[] = {[OWNED_COUNTS] = {true, sizeof *out->counts, 1},
                 [OWNED_J] = {true, sizeof *out->j, w->k},
                 [OWNED_DISTANCES] = {extras & KITH_DISTANCES, real, w->k},
                 [OWNED_VECTORS] = {extras & KITH_VECTORS, 3 * real, w->k},
                 [OWNED_SHIFTS] = {extras & KITH_SHIFTS, 3 * sizeof *out->shifts, w->k}};
    enum { ARRAYS = sizeof array / sizeof array[0] };
    void *data[ARRAYS] = {NULL};
    bool ok = owned && (rows == 0 || w->k < INT64_MAX / 64 / rows); /* no size overflows */
    for (int a = 0; a < ARRAYS && ok; a++) {
        const size_t bytes = (size_t)(rows * array[a].each) * array[a].size;
        data[a] = array[a].wanted ? kith__owned_need(owned, a, bytes) : NULL;
        ok = data[a] || !array[a].wanted;
    }
    KITH_CHECK(ctx, ok, KITH_NO_MEMORY, "out of memory for %lld nearest neighbours of %lld each",
               (long long)rows, (long long)w->k);
    *out = (kith_team_nearest){.counts = data[OWNED_COUNTS],
                               .j = data[OWNED_J],
                               .distances = data[OWNED_DISTANCES],
                               .vectors = data[OWNED_VECTORS],
                               .shifts = data[OWNED_SHIFTS],
                               .size = out->size,
                               .owner = out->owner};
    return KITH_OK;
}

/** Send the rows to the ranks that gave the particles, each row as one value. Collective. */
static kith_status write_result(struct nearest_team *w)
{
    kith_team *team = w->team;
    kith_team_nearest *out = w->out;
    const struct kith__route *home = &w->dealt[0].route;
    const size_t k = (size_t)w->k;
    const size_t real = k * (size_t)w->q.precision;
    KITH_AGREE(team, need_result(w));
    KITH_TRY(kith__route_home(team, home, w->rows.counts, sizeof *out->counts, out->counts));
    KITH_TRY(kith__route_home(team, home, w->global, k * sizeof *out->j, out->j));
    if (out->distances) {
        KITH_TRY(kith__route_home(team, home, w->rows.distances, real, out->distances));
    }
    if (out->vectors) {
        KITH_TRY(kith__route_home(team, home, w->rows.vectors, 3 * real, out->vectors));
    }
    if (out->shifts) {
        const size_t size = 3 * k * sizeof *out->shifts;
        KITH_TRY(kith__route_home(team, home, w->rows.shifts, size, out->shifts));
    }
    out->rows = w->points->n;
    out->k = w->k;
    return KITH_OK;
}

/** kith__team_work_fn: find the neighbours. */
static kith_status find(void *call)
{
    struct nearest_team *w = call;
    kith_team *team = w->team;
    KITH_AGREE(team, check(w));
    KITH_TRY(check_equal(w));
    w->n_sets = w->q.cross ? 2 : 1;
    w->set[0] = (struct kith__set){"points", w->q.a, NULL};
    w->set[1] = (struct kith__set){"against", w->q.b, NULL};
    for (int s = 0; s < w->n_sets; s++) {
        KITH_TRY(kith__team_base(team, BASE + s, &w->set[s]));
        team->load.points += w->set[s].base[team->ranks];
    }
    KITH_TRY(kith__team_bounds(team, &w->q, w->set, w->n_sets, &w->bounds));
    KITH_TRY(kith__team_divide(team, &w->q, w->set, w->n_sets, &w->bounds, &w->domains));
    KITH_TRY(deal_enough(w));
    kith_status status = search_all(w);
    if (status == KITH_LIMIT && team->ranks > 1) {
        /* on some rank neighbours are too many boxes away: join all domains to one, that of rank 0,
         * whose search among all candidates decides */
        int *host = NULL;
        KITH_AGREE(team, kith__team_need(team, HOSTS, team->ranks, sizeof *host, &host));
        memset(host, 0, (size_t)team->ranks * sizeof *host);
        w->domains.host = host;
        KITH_TRY(deal_sets(w));
        status = search_all(w);
    }
    KITH_TRY(status);
    return write_result(w);
}

kith_status kith_team_nearest_find(kith_team *team, const kith_points *points, const kith_box *box,
                                   int64_t k, const kith_nearest_options *options,
                                   kith_team_nearest *out)
{
    kith_status status;
    kith_team_nearest own = {0};
    struct nearest_team w = {
        .team = team, .points = points, .box = box, .k = k, .given = options, .out = &own};
    const struct kith__team_out result = KITH_TEAM_OUT(out, KITH_TEAM_NEAREST_0_2, &own);
    KITH_TEAM_CALL(team, &status, kith__team_fill(team, &result, find, &w));
    if (status != KITH_OK && out) {
        out->rows = 0;
    }
    return status;
}

void kith_team_nearest_free(kith_team_nearest *nearest)
{
    if (nearest) {
        kith__owned_free(nearest->owner);
        KITH_RESULT_CLEAR(nearest, kith_team_nearest, KITH_TEAM_NEAREST_0_2);
    }
}
