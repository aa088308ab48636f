/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Domains: each particle is on one rank, with its coordinates as given; each rank finds all pairs
 * of its particles, and values reach particles and copies, and return, while other domains are open
 * and other questions are answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, TRIPLE = 3 };

/** One decomposition, and the pairs of one process. */
typedef struct domain_work {
    const team_input *in;
    kith_points points, packed;
    const int64_t *first;   /**< [ranks + 1] */
    const uint64_t *digest; /**< [points.n] of the pairs of each particle on one process */
    kith_status expected;   /**< status of one process */
    kith_status status[MOST_RANKS];
    int32_t *dealt; /**< [points.n] how often each particle was dealt */
} domain_work;

/** A number that depends on a pair's j and S. */
static uint64_t hash(int64_t j, const int32_t shift[3])
{
    uint64_t h = (uint64_t)j;
    for (int k = 0; k < 3; k++) {
        h = (h ^ (uint64_t)(uint32_t)shift[k]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/** Sum the hashes of each particle's pairs. @param ids  global indices; NULL: 0 to n - 1 */
static kith_status digest_pairs(kith_ctx *ctx, const kith_points *points, const team_input *in,
                                const int64_t *ids, uint64_t *digest)
{
    kith_pairs pairs = {0};
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.full = 1;
    o.extras = KITH_SHIFTS;
    memset(digest, 0, (size_t)points->n * sizeof *digest);
    const kith_status status = kith_pairs_find(ctx, points, &in->box, in->cutoff, &o, &pairs);
    for (int64_t p = 0; p < pairs.n && status == KITH_OK; p++) {
        const int64_t j = ids ? ids[pairs.j[p]] : pairs.j[p];
        digest[pairs.i[p]] += hash(j, pairs.shifts + 3 * p);
    }
    kith_pairs_free(&pairs);
    return status;
}

/** Check the particles of a rank and their pairs. */
static void check_view(domain_work *w, kith_ctx *ctx, const kith_domain_view *here)
{
    const size_t size = 3 * (size_t)w->points.precision;
    const int64_t all = here->n + here->ghosts;
    uint64_t *digest = check_malloc((size_t)(all + 1) * sizeof *digest);
    const kith_points points = kith_points_packed(here->xyz, all, w->points.precision);
    int fine = 1;
    for (int64_t p = 0; p < all && fine; p++) {
        const char *given = (const char *)w->packed.x + (size_t)here->ids[p] * size;
        fine = CHECK(memcmp((const char *)here->xyz + (size_t)p * size, given, size) == 0,
                     "other coordinates");
        fine = fine && CHECK(p == 0 || p >= here->n || here->ids[p] > here->ids[p - 1],
                             "particles in another order");
        if (p < here->n) {
            __atomic_fetch_add(&w->dealt[here->ids[p]], 1, __ATOMIC_RELAXED);
        }
    }
    CHECK(digest_pairs(ctx, &points, w->in, here->ids, digest) == KITH_OK, "%s", kith_message(ctx));
    for (int64_t p = 0; p < here->n && fine; p++) {
        fine = CHECK(digest[p] == w->digest[here->ids[p]], "particle %lld has other pairs",
                     (long long)here->ids[p]);
    }
    free(digest);
}

/** Send values there, to copies, and back. */
static void check_values(const domain_work *w, team_rank *rank, kith_domain *domain,
                         const kith_domain_view *here)
{
    const int64_t base = w->first[rank->rank];
    const int64_t mine = w->first[rank->rank + 1] - base;
    const int64_t all = here->n + here->ghosts;
    int32_t(*given)[TRIPLE] = check_malloc((size_t)(mine + 1) * sizeof *given);
    int32_t(*there)[TRIPLE] = check_malloc((size_t)(all + 1) * sizeof *there);
    for (int64_t p = 0; p < mine; p++) {
        for (int k = 0; k < TRIPLE; k++) {
            given[p][k] = (int32_t)(7 * (base + p) + k);
        }
    }
    CHECK(kith_domain_send(domain, given, sizeof *given, there) == KITH_OK, "%s",
          kith_message(rank->ctx));
    int fine = 1;
    for (int64_t p = 0; p < all && fine; p++) {
        fine = CHECK(there[p][2] == 7 * here->ids[p] + 2, "another value arrives");
        there[p][1] = p < here->n ? (int32_t)(11 * here->ids[p]) : -1;
    }
    CHECK(kith_domain_refresh(domain, there, sizeof *there) == KITH_OK, "%s",
          kith_message(rank->ctx));
    for (int64_t p = 0; p < all && fine; p++) {
        fine = CHECK(there[p][1] == 11 * here->ids[p] && there[p][2] == 7 * here->ids[p] + 2,
                     "a copy has another value");
    }
    CHECK(kith_domain_home(domain, there, sizeof *there, given) == KITH_OK, "%s",
          kith_message(rank->ctx));
    for (int64_t p = 0; p < mine && fine; p++) {
        fine = CHECK(given[p][1] == 11 * (base + p) && given[p][0] == 7 * (base + p),
                     "another value returns");
    }
    free(given);
    free(there);
}

static void use(team_rank *rank)
{
    domain_work *w = rank->user;
    const int r = rank->rank;
    const kith_points mine = team_slice(&w->points, w->first[r], w->first[r + 1]);
    kith_domain *domain = NULL, *other = NULL;
    kith_domain_view here = {.size = sizeof here};
    w->status[r] = kith_domain_open(rank->team, &mine, &w->in->box, w->in->cutoff, &domain);
    if (w->status[r] != KITH_OK) {
        CHECK(!domain, "a domain after a failure");
        return;
    }
    kith_team_load load = {.size = sizeof load};
    CHECK(kith_team_load_read(rank->team, &load) == KITH_OK, "no load");
    int64_t n = 0;
    CHECK(kith_team_pairs_count(rank->team, &mine, &w->in->box, w->in->cutoff, NULL, &n, NULL) ==
              KITH_OK,
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_open(rank->team, &mine, &w->in->box, w->in->cutoff / 2, &other) == KITH_OK,
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_read(domain, &here) == KITH_OK, "%s", kith_message(NULL));
    CHECK(here.n == load.owned && here.ghosts == load.ghosts, "another load");
    check_view(w, rank->ctx, &here);
    check_values(w, rank, domain, &here);
    kith_domain_close(domain);
    CHECK(kith_domain_read(other, &here) == KITH_OK, "%s", kith_message(NULL));
    check_values(w, rank, other, &here);
    kith_domain_close(other);
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 300);
    for (int64_t p = 0; p < in.n && in.box.dim == 2; p++) {
        in.xyz[3 * p + 2] = 0;
    }
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    stored packed = stored_make(in.xyz, in.n, precision, LAYOUT_PACKED);
    int64_t first[MOST_RANKS + 1];
    uint64_t *digest = check_malloc((size_t)in.n * sizeof *digest);
    int32_t *dealt = check_malloc((size_t)in.n * sizeof *dealt);
    memset(dealt, 0, (size_t)in.n * sizeof *dealt);
    domain_work w = {.in = &in,
                     .points = a.points,
                     .packed = packed.points,
                     .first = first,
                     .digest = digest,
                     .dealt = dealt};
    team_run run = team_run_of(backend, how);
    run.work = use;
    run.user = &w;
    team_split_at((team_split)(how / 7 % SPLITS), in.n, run.ranks, first);
    check_case(in.name);
    w.expected = digest_pairs(ctx, &a.points, &in, NULL, digest);
    team_go(&run);
    for (int q = 0; q < run.ranks; q++) {
        CHECK(w.status[q] == w.expected, "rank %d: %s", q, kith_status_name(w.status[q]));
    }
    for (int64_t p = 0; p < in.n && w.expected == KITH_OK; p++) {
        if (!CHECK(dealt[p] == 1, "particle %lld was dealt %d times", (long long)p, dealt[p])) {
            break;
        }
    }
    check_case(NULL);
    free(digest);
    free(dealt);
    stored_free(&packed);
    stored_free(&a);
    free(in.xyz);
}

/** What each rank is refused; rank 1 alone errs. */
static void refused(team_rank *rank)
{
    const double xyz[3] = {rank->rank, 0, 0};
    const kith_points points = kith_points_packed(xyz, 1, KITH_DOUBLE);
    const int bad = rank->rank == 1;
    double values[2 * MOST_RANKS] = {0};
    kith_domain *domain = NULL;
    CHECK(kith_domain_open(rank->team, &points, NULL, bad ? -1 : 1, &domain) == KITH_INVALID &&
              !domain && strstr(kith_message(rank->ctx), "rank 1: width is -1"),
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_open(rank->team, &points, NULL, 1, bad ? NULL : &domain) == KITH_INVALID &&
              !domain && strstr(kith_message(rank->ctx), "rank 1: out is NULL"),
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_open(rank->team, &points, NULL, 1 + bad, &domain) == KITH_INVALID &&
              strstr(kith_message(rank->ctx), "width differs"),
          "%s", kith_message(rank->ctx));
    if (!CHECK(kith_domain_open(rank->team, &points, NULL, 1, &domain) == KITH_OK, "%s",
               kith_message(rank->ctx))) {
        return;
    }
    CHECK(kith_domain_send(domain, xyz, bad ? 0 : sizeof *xyz, values) == KITH_INVALID &&
              strstr(kith_message(rank->ctx), "rank 1: size is 0"),
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_send(domain, xyz, bad ? 4 : 8, values) == KITH_INVALID &&
              strstr(kith_message(rank->ctx), "size differs"),
          "%s", kith_message(rank->ctx));
    CHECK(kith_domain_send(domain, bad ? NULL : xyz, sizeof *xyz, values) == KITH_INVALID,
          "values of NULL");
    CHECK(kith_domain_send(domain, xyz, sizeof *xyz, values) == KITH_OK, "%s",
          kith_message(rank->ctx));
    if (bad) { /* the team is lost for the others, and for their domains */
        kith_domain_close(domain);
        kith_team_close(rank->team);
        rank->team = NULL;
        return;
    }
    CHECK(kith_domain_refresh(domain, values, sizeof *xyz) == KITH_TEAM_LOST, "%s",
          kith_message(rank->ctx));
    CHECK(kith_domain_refresh(domain, values, sizeof *xyz) == KITH_TEAM_LOST, "%s",
          kith_message(rank->ctx));
    kith_domain_close(domain);
}

/** A transport that counts the calls of another one, one of which fails. */
typedef struct failing {
    kith_transport real;
    int calls;    /**< calls made so far */
    int fails_at; /**< number of the call that fails; -1: none */
    int aborts;   /**< calls of `abort` */
} failing;

static int fails(failing *f)
{
    return f->calls++ == f->fails_at;
}

static int failing_counts(void *self, const int64_t *to, int64_t *from)
{
    failing *f = self;
    return fails(f) || f->real.counts(f->real.self, to, from);
}

static int failing_exchange(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                            int64_t n_from, void *stream)
{
    failing *f = self;
    return fails(f) || f->real.exchange(f->real.self, to, n_to, from, n_from, stream);
}

static int failing_gather(void *self, const void *mine, int64_t bytes, void *all)
{
    failing *f = self;
    return fails(f) || f->real.gather(f->real.self, mine, bytes, all);
}

static int failing_combine(void *self, int op, int64_t *inout, int64_t n)
{
    failing *f = self;
    return fails(f) || f->real.combine(f->real.self, op, inout, n);
}

static void failing_abort(void *self)
{
    ((failing *)self)->aborts++;
}

static void failing_close(void *self)
{
    kith_transport_close(&((failing *)self)->real);
}

/** Open a domain and send values. One call of the transport fails: the team is lost from then on,
 *  and the transport, which is aborted once, is not used again.
 *  @return whether that call was made */
static bool try_failure(kith_ctx *ctx, int fails_at)
{
    const double xyz[] = {0.5, 0.5, 0.5, 9.5, 0.5, 0.5};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(10, 10, 10);
    double there[64];
    failing f = {.fails_at = -1};
    CHECK(kith_transport_threads(1, &f.real) == KITH_OK, "%s", kith_message(NULL));
    const kith_transport transport = {.size = sizeof transport,
                                      .self = &f,
                                      .ranks = 1,
                                      .counts = failing_counts,
                                      .exchange = failing_exchange,
                                      .gather = failing_gather,
                                      .combine = failing_combine,
                                      .abort = failing_abort,
                                      .close = failing_close};
    kith_team *team = NULL;
    CHECK(kith_team_open(ctx, &transport, NULL, &team) == KITH_OK, "%s", kith_message(ctx));
    f.calls = 0;
    f.fails_at = fails_at;
    kith_domain *domain = NULL;
    kith_status status = kith_domain_open(team, &points, &box, 1, &domain);
    if (status == KITH_OK) {
        status = kith_domain_send(domain, xyz, sizeof *xyz, there);
    }
    const bool failed = f.calls > fails_at;
    CHECK(status == (failed ? KITH_TEAM_LOST : KITH_OK) && f.aborts == failed,
          "call %d fails: %s, %d aborts", fails_at, kith_status_name(status), f.aborts);
    f.calls = 0;
    f.fails_at = -1;
    if (failed) {
        kith_domain *other = NULL;
        status = kith_domain_open(team, &points, &box, 1, &other);
        CHECK(status == KITH_TEAM_LOST && f.aborts == 1 && f.calls == 0,
              "call %d failed before: %s, %d aborts, %d calls", fails_at, kith_status_name(status),
              f.aborts, f.calls);
        kith_domain_close(other);
    }
    kith_domain_close(domain);
    kith_team_close(team);
    return failed;
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    team_try_inputs(ctx, backend, 8, try_input);
    team_run run = {.backend = backend, .ranks = 3, .work = refused};
    team_go(&run);
    int failures = 0;
    while (try_failure(ctx, failures)) {
        failures++;
    }
    CHECK(failures > 4, "only %d calls of the transport", failures);
    kith_domain_view view = {.size = sizeof view};
    CHECK(kith_domain_read(NULL, &view) == KITH_INVALID, "a view of no domain");
    CHECK(kith_domain_send(NULL, NULL, 1, NULL) == KITH_INVALID, "values of no domain");
    CHECK(kith_domain_refresh(NULL, NULL, 1) == KITH_INVALID, "values of no domain");
    CHECK(kith_domain_home(NULL, NULL, 1, NULL) == KITH_INVALID, "values of no domain");
    kith_domain_close(NULL);
    kith_close(ctx);
    return check_done();
}
