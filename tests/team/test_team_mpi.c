/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams over MPI: each process makes all inputs and the answers of one process, then its part of
 * them as a rank.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith_mpi.h"
#include "team_case.h"

/** An input and this process's part of it. */
typedef struct part {
    const team_input *in;
    kith_points all, mine;
    int64_t first;
} part;

/** Halos of the groups that try_fof has found. */
static void try_halos(kith_ctx *ctx, kith_team *team, const part *p, const kith_groups *one_groups,
                      const kith_team_groups *groups)
{
    kith_halos one = {.size = sizeof one, .stride = sizeof(kith_halo)};
    kith_team_halos out = {.size = sizeof out, .stride = sizeof(kith_halo)};
    const kith_status expected = kith_halos_measure(ctx, &p->all, &p->in->box, one_groups, NULL,
                                                    &one);
    const kith_status status = kith_team_halos_measure(team, &p->mine, &p->in->box, groups, NULL,
                                                       &out);
    CHECK(status == expected && out.n == one.n, "%s, %s", kith_status_name(status),
          kith_message(ctx));
    CHECK(out.held == 0 ||
              memcmp(out.halo, one.halo + out.first, (size_t)out.held * sizeof *out.halo) == 0,
          "other halos");
    kith_team_halos_free(&out);
    kith_halos_free(&one);
}

static void try_fof(kith_ctx *ctx, kith_team *team, const part *p)
{
    kith_groups one = {0};
    kith_team_groups out = {0};
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = 2;
    const kith_status expected = kith_fof_find(ctx, &p->all, &p->in->box, p->in->cutoff, &o, &one);
    const kith_status status = kith_team_fof_find(team, &p->mine, &p->in->box, p->in->cutoff, &o,
                                                  &out);
    int fine = CHECK(status == expected, "%s, %s", kith_status_name(status), kith_message(ctx));
    fine = fine && CHECK(out.n == one.n, "%lld groups", (long long)out.n);
    for (int64_t k = 0; k < out.points && fine; k++) {
        fine = CHECK(out.labels[k] == one.labels[p->first + k], "another label");
    }
    for (int64_t g = 0; g < out.held && fine; g++) {
        fine = CHECK(out.members[g] == one.members[out.first + g], "another size");
    }
    if (fine && status == KITH_OK) {
        try_halos(ctx, team, p, &one, &out);
    }
    kith_team_groups_free(&out);
    kith_groups_free(&one);
}

static void try_rdf(kith_ctx *ctx, kith_team *team, const part *p)
{
    enum { BINS = 17 };
    kith_histogram one = {0}, out = {0};
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.r_max = p->in->cutoff;
    o.bins = BINS;
    const kith_status expected = kith_rdf_count(ctx, &p->all, &p->in->box, &o, &one);
    const kith_status status = kith_team_rdf_count(team, &p->mine, &p->in->box, &o, &out);
    if (CHECK(status == expected, "%s, %s", kith_status_name(status), kith_message(ctx)) &&
        status == KITH_OK) {
        CHECK(memcmp(one.counts, out.counts, BINS * sizeof *one.counts) == 0, "other counts");
        CHECK(memcmp(one.ideal, out.ideal, BINS * sizeof *one.ideal) == 0, "another ideal");
    }
    kith_histogram_free(&out);
    kith_histogram_free(&one);
}

static void try_pairs(kith_ctx *ctx, kith_team *team, const part *p)
{
    kith_team_pairs out = {0};
    int64_t n = 0;
    int64_t expected = 0;
    int64_t *neighbours = check_malloc((size_t)p->mine.n * sizeof *neighbours);
    int64_t *all = check_malloc((size_t)p->all.n * sizeof *all);
    CHECK(kith_pairs_count(ctx, &p->all, &p->in->box, p->in->cutoff, NULL, &expected, all) ==
              KITH_OK,
          "%s", kith_message(ctx));
    CHECK(kith_team_pairs_count(team, &p->mine, &p->in->box, p->in->cutoff, NULL, &n, neighbours) ==
              KITH_OK,
          "%s", kith_message(ctx));
    CHECK(n == expected, "%lld pairs, not %lld", (long long)n, (long long)expected);
    CHECK(p->mine.n == 0 ||
              memcmp(neighbours, all + p->first, (size_t)p->mine.n * sizeof *neighbours) == 0,
          "other numbers of neighbours");
    CHECK(kith_team_pairs_find(team, &p->mine, &p->in->box, p->in->cutoff, NULL, &out) == KITH_OK &&
              out.all == expected,
          "%lld pairs, %s", (long long)out.all, kith_message(ctx));
    kith_team_pairs_free(&out);
    free(neighbours);
    free(all);
}

static void try_nearest(kith_ctx *ctx, kith_team *team, const part *p)
{
    enum { K = 6 };
    kith_nearest one = {.size = sizeof one};
    kith_team_nearest out = {.size = sizeof out};
    kith_nearest_options o;
    kith_nearest_options_init(&o);
    o.extras = KITH_DISTANCES;
    const kith_status expected = kith_nearest_find(ctx, &p->all, &p->in->box, K, &o, &one);
    const kith_status status = kith_team_nearest_find(team, &p->mine, &p->in->box, K, &o, &out);
    int fine = CHECK(status == expected, "%s, %s", kith_status_name(status), kith_message(ctx));
    for (int64_t e = 0; e < K * out.rows && fine; e++) {
        fine = CHECK(out.j[e] == one.j[K * p->first + e], "another neighbour");
    }
    const size_t row = K * (size_t)p->all.precision;
    CHECK(out.rows == 0 || memcmp(out.distances, (char *)one.distances + (size_t)p->first * row,
                                  (size_t)out.rows * row) == 0,
          "other distances");
    kith_team_nearest_free(&out);
    kith_nearest_free(&one);
}

static void try_input(kith_ctx *ctx, const kith_transport *t, kith_team *team, rng *r, int k)
{
    team_input in = team_input_make(r, k, 600);
    const kith_precision precision = k % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored s = stored_make(in.xyz, in.n, precision, LAYOUT_PACKED);
    int64_t *first = check_malloc(((size_t)t->ranks + 1) * sizeof *first);
    team_split_at((team_split)(k % SPLITS), in.n, t->ranks, first);
    const part p = {&in, s.points, team_slice(&s.points, first[t->rank], first[t->rank + 1]),
                    first[t->rank]};
    check_case(in.name);
    try_fof(ctx, team, &p);
    try_rdf(ctx, team, &p);
    try_pairs(ctx, team, &p);
    try_nearest(ctx, team, &p);
    check_case(NULL);
    free(first);
    stored_free(&s);
    free(in.xyz);
}

/** All inputs, with parcels of one size. */
static void try_all(kith_ctx *ctx, int64_t chunk_bytes, int step)
{
    kith_transport t;
    kith_team *team = NULL;
    kith_team_options o;
    kith_team_options_init(&o);
    o.chunk_bytes = chunk_bytes;
    CHECK(kith_transport_mpi(MPI_COMM_WORLD, NULL) == KITH_INVALID, "no transport");
    CHECK(kith_transport_mpi(MPI_COMM_WORLD, &t) == KITH_OK, "no transport");
    if (CHECK(kith_team_open(ctx, &t, &o, &team) == KITH_OK, "%s", kith_message(ctx))) {
        rng r = {4};
        for (int k = 0; k < team_inputs(); k += step) {
            try_input(ctx, &t, team, &r, k);
        }
    }
    kith_team_close(team);
}

/** Make a transport in a thread that is not the main one: refused, unless MPI permits it. */
static void *try_thread(void *unused)
{
    kith_transport t;
    int level = MPI_THREAD_SINGLE;
    (void)unused;
    MPI_Query_thread(&level);
    const kith_status status = kith_transport_mpi(MPI_COMM_WORLD, &t);
    CHECK(status == (level < MPI_THREAD_SERIALIZED ? KITH_UNSUPPORTED : KITH_OK) &&
              !t.self == (status != KITH_OK),
          "level %d: %s", level, kith_status_name(status));
    kith_transport_close(&t);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_transport before;
    CHECK(kith_transport_mpi(MPI_COMM_NULL, &before) == KITH_INVALID && !before.self,
          "a transport before MPI");
    int offered;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &offered);
    CHECK(offered >= MPI_THREAD_FUNNELED, "MPI offers level %d", offered);
    if (CHECK(pthread_create(&thread, NULL, try_thread, NULL) == 0, "no thread")) {
        pthread_join(thread, NULL);
    }
    kith_ctx *ctx = check_open(backend, 1);
    try_all(ctx, 0, 3);
    try_all(ctx, 100, 17);
    kith_close(ctx);
    int64_t failures = check_failures();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
