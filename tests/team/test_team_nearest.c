/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of teams are those of one process, however the particles are given and dealt:
 * the rows of all ranks, put together, have the bits of its rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, AGAIN = 2 };

/** One search, on one process and on a team. */
typedef struct nearest_work {
    const team_input *in;
    kith_points points, against;          /**< against.n: -1 where there is one set */
    const int64_t *first, *first_against; /**< [ranks + 1] */
    int64_t k;
    kith_nearest_options options;
    kith_status status[MOST_RANKS];
    kith_team_nearest out[MOST_RANKS];
    kith_team_load load[MOST_RANKS];
    char message[MOST_RANKS][512];
} nearest_work;

static void find(team_rank *rank)
{
    nearest_work *w = rank->user;
    const int r = rank->rank;
    const kith_points mine = team_slice(&w->points, w->first[r], w->first[r + 1]);
    kith_nearest_options o = w->options;
    kith_points other;
    if (w->against.n >= 0) {
        other = team_slice(&w->against, w->first_against[r], w->first_against[r + 1]);
        o.against = &other;
    }
    for (int n = 0; n < AGAIN && w->status[r] == KITH_OK; n++) { /* twice into one struct */
        w->status[r] = kith_team_nearest_find(rank->team, &mine, &w->in->box, w->k, &o, &w->out[r]);
    }
    w->load[r].size = sizeof w->load[r];
    CHECK(kith_team_load_read(rank->team, &w->load[r]) == KITH_OK, "no load");
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
}

/** Compare an array of a rank with its part of that of one process, or check that it is NULL. */
static void check_array(const char *name, bool wanted, const void *part, const void *all, size_t at,
                        size_t bytes)
{
    CHECK((part != NULL) == wanted, "%s: %p", name, part);
    CHECK(!part || bytes == 0 || memcmp(part, (const char *)all + at, bytes) == 0, "other %s",
          name);
}

/** Compare a rank's rows with those of one process. */
static void check_rows(const nearest_work *w, int r, const kith_nearest *one)
{
    const kith_team_nearest *out = &w->out[r];
    const size_t real = (size_t)w->points.precision;
    const size_t first = (size_t)w->first[r];
    const size_t rows = (size_t)(w->first[r + 1] - w->first[r]);
    const size_t k = (size_t)w->k;
    int fine = CHECK(out->rows == (int64_t)rows && out->k == w->k, "%lld rows of %lld",
                     (long long)out->rows, (long long)out->k);
    for (size_t e = 0; e < rows * k && fine; e++) {
        fine = CHECK(out->j[e] == one->j[first * k + e], "row %zu: j is %lld, expected %d",
                     first + e / k, (long long)out->j[e], (int)one->j[first * k + e]);
    }
    const unsigned extras = w->options.extras;
    check_array("counts", true, out->counts, one->counts, first * sizeof *out->counts,
                rows * sizeof *out->counts);
    check_array("distances", extras & KITH_DISTANCES, out->distances, one->distances,
                first * k * real, rows * k * real);
    check_array("vectors", extras & KITH_VECTORS, out->vectors, one->vectors, first * k * 3 * real,
                rows * k * 3 * real);
    check_array("shifts", extras & KITH_SHIFTS, out->shifts, one->shifts,
                first * k * 3 * sizeof *out->shifts, rows * k * 3 * sizeof *out->shifts);
}

/** Compare a team with one process. */
static void compare(kith_ctx *ctx, nearest_work *w, team_run *run, const char *name)
{
    kith_nearest one = {.size = sizeof one};
    kith_nearest_options o = w->options;
    char text[256];
    snprintf(text, sizeof text, "%s; k %lld, against %lld, %d ranks, deal %d, chunks of %lld", name,
             (long long)w->k, (long long)w->against.n, run->ranks, (int)run->deal,
             (long long)run->chunk_bytes);
    check_case(text);
    memset(w->status, 0, sizeof w->status);
    memset(w->out, 0, sizeof w->out);
    o.against = w->against.n >= 0 ? &w->against : NULL;
    const kith_status status = kith_nearest_find(ctx, &w->points, &w->in->box, w->k, &o, &one);
    run->work = find;
    run->user = w;
    team_go(run);
    int64_t owned = 0;
    for (int r = 0; r < run->ranks; r++) {
        const int fine = CHECK(w->status[r] == status, "rank %d: %s, one process: %s (%s; %s)", r,
                               kith_status_name(w->status[r]), kith_status_name(status),
                               w->message[r], kith_message(ctx));
        if (fine && status == KITH_OK) {
            check_rows(w, r, &one);
        }
        owned += w->load[r].owned;
        kith_team_nearest_free(&w->out[r]);
        CHECK(!w->out[r].owner && !w->out[r].j, "not freed");
    }
    CHECK(status != KITH_OK || (owned == w->load[0].points && w->load[0].most_owned <= owned),
          "the load is of %lld particles, not %lld", (long long)owned,
          (long long)w->load[0].points);
    kith_nearest_free(&one);
    check_case(NULL);
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    static const int64_t many[] = {1, 3, 8, 20, 150};
    team_input in = team_input_make(r, k, 400);
    team_input other = team_input_make(r, (k + 1 + how % 3) % team_inputs(), how / 11 % 90);
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    stored b = stored_make(other.xyz, other.n, precision, (layout)(how / 3 % LAYOUTS));
    int64_t first[MOST_RANKS + 1], first_against[MOST_RANKS + 1];
    nearest_work w = {.in = &in,
                      .points = a.points,
                      .against = b.points,
                      .first = first,
                      .first_against = first_against,
                      .k = many[how / 13 % 5]};
    w.against.n = how / 17 % 3 ? -1 : how / 17 % 4 == 0 ? 0 : other.n;
    kith_nearest_options_init(&w.options);
    w.options.cutoff = how / 19 % 3 ? 0 : in.cutoff;
    w.options.extras = (unsigned)(how / 23) % (2 * KITH_DISTANCES | 2 * KITH_VECTORS);
    w.options.extras &= KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    team_run run = team_run_of(backend, how);
    team_split_at((team_split)(how / 7 % SPLITS), in.n, run.ranks, first);
    team_split_at((team_split)(how / 29 % SPLITS), w.against.n > 0 ? w.against.n : 0, run.ranks,
                  first_against);
    compare(ctx, &w, &run, in.name);
    stored_free(&a);
    stored_free(&b);
    free(in.xyz);
    free(other.xyz);
}

/** Particles that are evenly spread: few queries leave their ranks, and a lone particle sends one.
 *  Were queries sent to every rank, or all ranks joined, results would be right and useless. */
static void try_load(kith_ctx *ctx, const char *backend)
{
    enum { N = 20000, RANKS = 8, K = 4 };
    int64_t first[RANKS + 1];
    rng r = {9};
    team_input in = {.n = N, .box = kith_box_periodic(1, 1, 1)};
    in.xyz = points_in_box(&r, N, &in.box);
    for (int64_t p = 0; p < N; p++) {
        in.xyz[3 * p] = p > 0 ? in.xyz[3 * p] * 0.5 : 0.75; /* a void, and one particle in it */
    }
    nearest_work w = {.in = &in,
                      .points = kith_points_packed(in.xyz, N, KITH_DOUBLE),
                      .against = {.n = -1},
                      .first = first,
                      .k = K};
    kith_nearest_options_init(&w.options);
    team_run run = {.backend = backend, .ranks = RANKS};
    team_split_at(SPLIT_EVEN, N, RANKS, first);
    compare(ctx, &w, &run, "a lone particle");
    for (int k = 0; k < RANKS; k++) {
        CHECK(w.load[k].most_owned < N / RANKS * 5 / 4, "rank %d of %lld particles", k,
              (long long)w.load[k].most_owned);
        CHECK(w.load[k].ghosts > 0 && w.load[k].ghosts < N / RANKS, "rank %d gets %lld queries", k,
              (long long)w.load[k].ghosts);
    }
    free(in.xyz);
}

/** Candidates of one rank that are 1500 boxes from its particles, while those of other ranks are
 *  near: the rank alone would find that neighbours are too many boxes away. With k large they are,
 *  on one process too. */
static void try_far(kith_ctx *ctx, const char *backend, int64_t k, kith_status expected)
{
    enum { N = 64, RANKS = 4 };
    int64_t first[RANKS + 1];
    double xyz[3 * N], other[3 * N];
    team_input in = {.n = N, .xyz = xyz, .box = kith_box_periodic(3000, 1, 1)};
    in.box.periodic[0] = in.box.periodic[2] = 0;
    rng r = {11};
    for (int64_t p = 0; p < N; p++) {
        for (int64_t m = 0; m < 3; m++) {
            xyz[3 * p + m] = rng_uniform(&r, 0, 1);
            other[3 * p + m] = rng_uniform(&r, 0, 1) + (m == 0 && p % RANKS == 0 ? 1500 : 0);
        }
    }
    nearest_work w = {.in = &in,
                      .points = kith_points_packed(xyz, N, KITH_DOUBLE),
                      .against = kith_points_packed(other, N, KITH_DOUBLE),
                      .first = first,
                      .first_against = first,
                      .k = k};
    kith_nearest_options_init(&w.options);
    w.options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    team_split_at(SPLIT_EVEN, N, RANKS, first);
    team_run run = {.backend = backend, .ranks = RANKS, .deal = DEAL_INDEX};
    compare(ctx, &w, &run, "far candidates");
    CHECK(w.status[0] == expected, "%s", kith_status_name(w.status[0]));
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    team_try_inputs(ctx, backend, 5, try_input);
    try_load(ctx, backend);
    try_far(ctx, backend, 5, KITH_OK);
    try_far(ctx, backend, 100000, KITH_LIMIT);
    kith_close(ctx);
    return check_done();
}
