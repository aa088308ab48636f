/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of teams have the labels and sizes of those of one process, however the particles are
 * given and dealt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, AGAIN = 2 };

/** One search, on one process and on a team. */
typedef struct fof_work {
    const team_input *in;
    kith_points points;
    const int64_t *first; /**< [ranks + 1] */
    kith_fof_options options;
    kith_status status[MOST_RANKS];
    kith_team_groups out[MOST_RANKS];
    kith_team_load load[MOST_RANKS];
    char message[MOST_RANKS][512];
} fof_work;

static void find(team_rank *rank)
{
    fof_work *w = rank->user;
    const int r = rank->rank;
    const kith_points mine = team_slice(&w->points, w->first[r], w->first[r + 1]);
    kith_fof_options o = w->options;
    o.ids = o.ids ? o.ids + w->first[r] : NULL;
    o.roles = o.roles ? o.roles + w->first[r] : NULL;
    if (o.velocities) {
        o.velocities = (const char *)o.velocities +
                       (size_t)(3 * w->first[r]) * (size_t)w->points.precision;
    }
    for (int k = 0; k < AGAIN && w->status[r] == KITH_OK; k++) { /* twice into one struct */
        w->status[r] = kith_team_fof_find(rank->team, &mine, &w->in->box, w->in->cutoff, &o,
                                          &w->out[r]);
    }
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
    w->load[r].size = sizeof w->load[r];
    CHECK(kith_team_load_read(rank->team, &w->load[r]) == KITH_OK, "%s", kith_message(NULL));
}

/** Compare the ranks' results with those of one process. */
static void check_result(const fof_work *w, int ranks, const kith_groups *one)
{
    int64_t held = 0;
    int64_t owned = 0;
    for (int r = 0; r < ranks; r++) {
        const kith_team_groups *out = &w->out[r];
        int same = out->n == one->n && out->points == w->first[r + 1] - w->first[r] &&
                   out->first == held;
        CHECK(same, "rank %d: %lld groups, %lld particles, first %lld", r, (long long)out->n,
              (long long)out->points, (long long)out->first);
        for (int64_t p = 0; p < out->points && same; p++) {
            same = out->labels[p] == one->labels[w->first[r] + p];
        }
        CHECK(same, "rank %d has other labels", r);
        same = same && (out->held == 0 || memcmp(out->members, one->members + out->first,
                                                 (size_t)out->held * sizeof *out->members) == 0);
        CHECK(same, "rank %d has other sizes", r);
        held += out->held;
        owned += w->load[r].owned;
        CHECK(w->load[r].most_owned >= w->load[r].owned && w->load[r].points == w->points.n,
              "rank %d has another load", r);
    }
    CHECK(held == one->n && owned == w->points.n, "%lld sizes, %lld particles dealt",
          (long long)held, (long long)owned);
}

/** Compare a team with one process. */
static void compare(kith_ctx *ctx, fof_work *w, team_run *run, const char *name)
{
    kith_groups one = {0};
    char text[256];
    snprintf(text, sizeof text, "%s; %d ranks, deal %d, chunks of %lld", name, run->ranks,
             (int)run->deal, (long long)run->chunk_bytes);
    check_case(text);
    memset(w->status, 0, sizeof w->status);
    memset(w->out, 0, sizeof w->out);
    const kith_status status = kith_fof_find(ctx, &w->points, &w->in->box, w->in->cutoff,
                                             &w->options, &one);
    run->work = find;
    run->user = w;
    team_go(run);
    int fine = 1;
    for (int r = 0; r < run->ranks; r++) {
        fine = CHECK(w->status[r] == status, "rank %d: %s, one process: %s (%s; %s)", r,
                     kith_status_name(w->status[r]), kith_status_name(status), w->message[r],
                     kith_message(ctx)) &&
               fine;
    }
    if (fine && status == KITH_OK) {
        check_result(w, run->ranks, &one);
    }
    for (int r = 0; r < run->ranks; r++) {
        kith_team_groups_free(&w->out[r]);
    }
    kith_groups_free(&one);
    check_case(NULL);
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 900);
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    double *v = check_malloc(3 * (size_t)in.n * sizeof *v);
    for (int64_t p = 0; p < 3 * in.n; p++) {
        v[p] = rng_uniform(r, -0.7, 0.7);
    }
    stored velocities = stored_make(v, in.n, precision, LAYOUT_PACKED);
    int64_t *ids = check_malloc((size_t)in.n * sizeof *ids);
    for (int64_t p = 0; p < in.n; p++) {
        ids[p] = (p % 2 ? 1 : -1) * ((in.n - p) * 1000003 % 4096 + p * 8192);
        if (how % 2 && strncmp(backend, "cpu", 3) == 0) { /* one id for several particles */
            ids[p] %= 7;
        }
    }
    uint8_t *roles = check_malloc((size_t)in.n);
    for (int64_t p = 0; p < in.n; p++) {
        const int64_t role = rng_below(r, 8);
        roles[p] = (uint8_t)(role < 5 ? KITH_LINK : role < 7 ? KITH_ATTACH : KITH_IGNORE);
    }
    int64_t first[MOST_RANKS + 1];
    fof_work w = {.in = &in, .points = a.points, .first = first};
    kith_fof_options_init(&w.options);
    w.options.min_members = how % 5 == 0 ? 20 : 1 + how % 5;
    w.options.ids = how % 3 == 1 ? ids : NULL;
    w.options.velocities = how % 7 == 2 ? velocities.points.x : NULL;
    w.options.velocity_length = 0.9;
    w.options.roles = how / 11 % 4 == 0 ? roles : NULL;
    w.options.min_links = how / 13 % 4 == 0 ? 1 + how / 17 % 4 : 0;
    team_run run = team_run_of(backend, how);
    team_split_at((team_split)(how / 7 % SPLITS), in.n, run.ranks, first);
    compare(ctx, &w, &run, in.name);
    free(roles);
    free(ids);
    free(v);
    stored_free(&velocities);
    stored_free(&a);
    free(in.xyz);
}

int main(int argc, char **argv)
{
    return team_main(argc, argv, 2, try_input);
}
