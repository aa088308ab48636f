/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kept lists of batches: the list of each update has the bits of a fresh search of the batch, or,
 * with the skin, those of kept lists of its systems; each system is rebuilt when a brute-force rule
 * says so, and only then; boxes, sizes and numbers of systems that change; what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verlet_case.h"

enum { SYSTEMS = 7, MOST = 700, STEPS = 50 };

/** A batch whose particles move. */
typedef struct moving {
    int64_t offsets[SYSTEMS + 1];
    kith_box boxes[SYSTEMS];
    double *xyz;            /* [MOST][3] */
    double moved[3 * MOST]; /* displacement since the last rebuild of the system */
    int64_t held[SYSTEMS];  /* particles at the last rebuild; -1: none */
    int changed[SYSTEMS];   /* the box changed since then */
    int64_t rebuilds;       /* of all systems */
    kith_pairs list, fresh;
} moving;

static void make(moving *m)
{
    static const int64_t sizes[SYSTEMS] = {40, 0, 1, 150, 90, 0, 200};
    rng r = {17};
    memset(m, 0, sizeof *m);
    m->xyz = check_malloc(3 * MOST * sizeof *m->xyz);
    for (int s = 0; s < SYSTEMS; s++) {
        const double a = 2.2 + 0.3 * s;
        m->boxes[s] = s % 2 ? kith_box_triclinic(a, 0.9 * a, 1.1 * a, 0.3, -0.2, 0.4)
                            : kith_box_periodic(a, 1.2 * a, a);
        m->boxes[s].periodic[2] = s % 3 != 0;
        m->offsets[s + 1] = m->offsets[s] + sizes[s];
        m->held[s] = -1;
        double *x = points_in_box(&r, sizes[s], &m->boxes[s]);
        memcpy(m->xyz + 3 * m->offsets[s], x, 3 * (size_t)sizes[s] * sizeof *x);
        free(x);
    }
    m->list.size = m->fresh.size = sizeof m->list;
}

/** Move the particles of some systems by up to `most`, and some by whole boxes. */
static void move(moving *m, rng *r, double most)
{
    for (int s = 0; s < SYSTEMS; s++) {
        const int64_t n = m->offsets[s + 1] - m->offsets[s];
        double *x = m->xyz + 3 * m->offsets[s];
        const double by = rng_below(r, 3) ? most * rng_uniform(r, 0, 0.3) : 0;
        for (int64_t p = 0; p < 3 * n; p++) {
            const double step = by / sqrt(3) * rng_uniform(r, -1, 1);
            x[p] += step;
            m->moved[3 * m->offsets[s] + p] += step;
        }
        if (rng_below(r, 4) == 0) {
            points_drift(r, x, n, &m->boxes[s], 1);
        }
    }
}

/** The reason by brute force; -1: rounding errors may decide, or a box that changed. */
static int reason_of(const moving *m, int s, double skin)
{
    const int64_t n = m->offsets[s + 1] - m->offsets[s];
    double most = 0;
    if (m->held[s] < 0 || m->held[s] != n) {
        return m->held[s] < 0 ? KITH_VERLET_FIRST : KITH_VERLET_PARTICLES;
    }
    for (int64_t p = m->offsets[s]; p < m->offsets[s + 1]; p++) {
        const double *d = m->moved + 3 * p;
        most = fmax(most, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return m->changed[s] || fabs(most - skin / 2) < 1e-4 ? -1
           : most > skin / 2                             ? KITH_VERLET_MOVED
                                                         : KITH_VERLET_KEPT;
}

/** Check the reasons of the last update, and note the rebuilds. */
static void check_reasons(moving *m, kept *k, int asked)
{
    int32_t reasons[SYSTEMS];
    int first = 0;
    CHECK(kith_verlet_reasons(k->verlet, SYSTEMS, reasons) == KITH_OK, "%s", kith_message(k->ctx));
    for (int s = 0; s < SYSTEMS; s++) {
        int expected = reason_of(m, s, k->options.skin);
        expected = asked && expected != KITH_VERLET_FIRST ? KITH_VERLET_ASKED : expected;
        CHECK(expected < 0 || reasons[s] == expected, "%s: system %d: reason %d, expected %d",
              k->name, s, (int)reasons[s], expected);
        if (reasons[s] != KITH_VERLET_KEPT) {
            const int64_t n = m->offsets[s + 1] - m->offsets[s];
            memset(m->moved + 3 * m->offsets[s], 0, 3 * (size_t)n * sizeof *m->moved);
            m->held[s] = n;
            m->changed[s] = 0;
            m->rebuilds++;
            first = first ? first : reasons[s];
        }
    }
    const kith_verlet_state state = kept_state(k);
    CHECK(state.rebuilds == m->rebuilds && state.rebuilt == (first != 0) &&
              (int)state.reason == first,
          "%s: %lld rebuilds, expected %lld; reason %d, expected %d", k->name,
          (long long)state.rebuilds, (long long)m->rebuilds, (int)state.reason, first);
}

/** Update, and compare with a fresh search; with the skin, with kept lists of the systems.
 *  @param one  [SYSTEMS] kept lists, each of one system */
static void check_update(moving *m, kept *k, kept *one, kith_precision precision, int asked)
{
    const int64_t n = m->offsets[SYSTEMS];
    stored all = stored_make(m->xyz, n, precision, LAYOUT_SPLIT);
    const kith_batch batch = {
        .size = sizeof batch, .systems = SYSTEMS, .offsets = m->offsets, .boxes = m->boxes};
    const size_t real = (size_t)precision;
    if (!CHECK(kith_verlet_update_batch(k->verlet, &all.points, NULL, &batch, &m->list) == KITH_OK,
               "%s: %s", k->name, kith_message(k->ctx))) {
        exit(1);
    }
    check_reasons(m, k, asked);
    if (!k->options.with_skin) {
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.sorted = 1;
        o.full = k->options.full;
        o.layout = k->options.layout;
        o.extras = k->options.extras;
        o.batch = &batch;
        CHECK(kith_pairs_find(k->ctx, &all.points, NULL, k->options.cutoff, &o, &m->fresh) ==
                  KITH_OK,
              "%s", kith_message(k->ctx));
        CHECK(kept_same(k, &m->list, &m->fresh, real), "%s: %lld pairs, a fresh search has %lld",
              k->name, (long long)m->list.n, (long long)m->fresh.n);
    }
    int64_t at = 0;
    for (int s = 0; s < SYSTEMS; s++) {
        stored part = stored_make(m->xyz + 3 * m->offsets[s], m->offsets[s + 1] - m->offsets[s],
                                  precision, LAYOUT_SPLIT);
        if (asked) {
            kith_verlet_rebuild(one[s].verlet);
        }
        CHECK(kith_verlet_update(one[s].verlet, &part.points, &m->boxes[s], &one[s].list) ==
                  KITH_OK,
              "%s", kith_message(k->ctx));
        for (int64_t p = 0; p < one[s].list.n; p++) {
            CHECK(m->list.j[at + p] == one[s].list.j[p] + m->offsets[s], "%s: system %d, pair %lld",
                  k->name, s, (long long)p);
        }
        at += one[s].list.n;
        stored_free(&part);
    }
    CHECK(at == m->list.n, "%s: %lld pairs, the systems have %lld", k->name, (long long)m->list.n,
          (long long)at);
    stored_free(&all);
}

/** A system loses its last particle: the systems behind it move in the arrays. */
static void remove_one(moving *m, int s)
{
    const int64_t last = m->offsets[s + 1] - 1, behind = m->offsets[SYSTEMS] - last - 1;
    memmove(m->xyz + 3 * last, m->xyz + 3 * last + 3, 3 * (size_t)behind * sizeof *m->xyz);
    memmove(m->moved + 3 * last, m->moved + 3 * last + 3, 3 * (size_t)behind * sizeof *m->moved);
    for (int t = s + 1; t <= SYSTEMS; t++) {
        m->offsets[t]--;
    }
}

static void check_history(kith_ctx *ctx, const kith_verlet_options *o, kith_precision precision,
                          const char *name)
{
    static moving m;
    rng r = {23};
    kept k = kept_open(ctx, o, name), one[SYSTEMS];
    make(&m);
    for (int s = 0; s < SYSTEMS; s++) {
        one[s] = kept_open(ctx, o, name);
    }
    for (int step = 0; step < STEPS; step++) {
        const int asked = step == 20;
        if (asked) {
            kith_verlet_rebuild(k.verlet);
        }
        if (step == 10) {
            remove_one(&m, 3);
        }
        if (step % 8 == 7) { /* by turns a little, and too much */
            const int s = step / 8;
            m.boxes[s].row[0][0] *= step % 16 == 7 ? 1.001 : 1.3;
            m.changed[s] = 1;
        }
        check_update(&m, &k, one, precision, asked);
        move(&m, &r, o->skin);
    }
    CHECK(m.rebuilds > 3 * SYSTEMS && m.rebuilds < STEPS * SYSTEMS / 2, "%s: %lld rebuilds", name,
          (long long)m.rebuilds);
    for (int s = 0; s < SYSTEMS; s++) {
        kept_close(&one[s]);
    }
    kept_close(&k);
    kith_pairs_free(&m.list);
    kith_pairs_free(&m.fresh);
    free(m.xyz);
}

static void check_forms(kith_ctx *ctx)
{
    for (int form = 0; form < 16; form++) {
        char name[80];
        kith_verlet_options o;
        kith_verlet_options_init(&o);
        o.cutoff = 0.6;
        o.skin = 0.2;
        o.full = form & 1;
        o.with_skin = form >> 1 & 1;
        o.layout = form & 4 ? KITH_CSR : KITH_IJ;
        o.extras = form & 1 ? KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS : KITH_SHIFTS;
        snprintf(name, sizeof name, "form %d", form);
        check_history(ctx, &o, form & 8 ? KITH_FLOAT : KITH_DOUBLE, name);
    }
}

static void check_refused(kith_ctx *ctx, kith_status status, kith_status expected,
                          const kith_pairs *list, const char *word)
{
    CHECK(status == expected && strstr(kith_message(ctx), word), "%s: %s, expected %s with \"%s\"",
          kith_status_name(status), kith_message(ctx), kith_status_name(expected), word);
    CHECK(list->n == 0, "%s: %lld pairs", word, (long long)list->n);
}

/** There are no reasons after an update that failed, whatever it was refused for.
 *  @param batch  three systems */
static void check_no_reasons(const kept *k, const kith_points *points, const kith_batch *batch,
                             kith_pairs *list)
{
    kith_batch bad = *batch;
    kith_pairs mine = {.size = sizeof mine, .j = (int32_t[1]){0}};
    int32_t reasons[3] = {0};
    bad.systems = -1;
    for (int fault = 0; fault < 5; fault++) {
        CHECK(kith_verlet_update_batch(k->verlet, points, NULL, batch, list) == KITH_OK &&
                  kith_verlet_reasons(k->verlet, 3, reasons) == KITH_OK,
              "fault %d", fault);
        const kith_status status =
            fault == 0   ? kith_verlet_update_batch(k->verlet, points, NULL, &bad, list)
            : fault == 1 ? kith_verlet_update_batch(k->verlet, points, NULL, batch, &mine)
            : fault == 2 ? kith_verlet_update_batch(k->verlet, points, NULL, NULL, list)
            : fault == 3 ? kith_verlet_update_batch(k->verlet, points, NULL, batch, NULL)
                         : kith_verlet_update(k->verlet, points, NULL, list);
        CHECK(status == KITH_INVALID, "fault %d: %s", fault, kith_status_name(status));
        CHECK(kith_verlet_reasons(k->verlet, 3, reasons) == KITH_INVALID,
              "fault %d: reasons of a failure", fault);
    }
}

/** A first update that fails does not decide whether a list is of one system or of batches. */
static void check_first_fails(kith_ctx *ctx, const kith_verlet_options *o,
                              const kith_points *points, const kith_batch *batch, kith_pairs *list)
{
    const double nan = (double)NAN, xyz[18] = {[4] = nan};
    const kith_points bad = kith_points_packed(xyz, 6, KITH_DOUBLE);
    for (int of_batches = 0; of_batches < 2; of_batches++) {
        kept k = kept_open(ctx, o, "first update fails");
        const kith_batch *first = of_batches ? NULL : batch, *then = of_batches ? batch : NULL;
        int32_t reasons[3];
        for (int turn = 0; turn < 2; turn++) {
            const kith_points *given = turn == 0 ? &bad : points;
            const kith_batch *of = turn == 0 ? first : then;
            const kith_status status = of ? kith_verlet_update_batch(k.verlet, given, NULL, of,
                                                                     list)
                                          : kith_verlet_update(k.verlet, given, NULL, list);
            CHECK(status == (turn == 0 ? KITH_NOT_FINITE : KITH_OK), "of batches %d, turn %d: %s",
                  of_batches, turn, kith_message(ctx));
        }
        CHECK(list->n > 0 && (kith_verlet_reasons(k.verlet, 3, reasons) == KITH_OK) == of_batches,
              "of batches %d: %s", of_batches, kith_message(ctx));
        check_refused(ctx,
                      of_batches ? kith_verlet_update(k.verlet, points, NULL, &k.list)
                                 : kith_verlet_update_batch(k.verlet, points, NULL, batch, &k.list),
                      KITH_INVALID, &k.list,
                      of_batches ? "the list is of batches" : "the list is of one system");
        kept_close(&k);
    }
}

/** Numbers of systems that change, mistakes, and failures after which lists are exact. */
static void check_refusals(kith_ctx *ctx)
{
    double xyz[18] = {0, 0, 0, 0.5, 0, 0, 9, 9, 9, 9.4, 9, 9, 1, 1, 1, 1, 1.2, 1};
    const int64_t offsets[] = {0, 2, 4, 6};
    const kith_points points = kith_points_packed(xyz, 6, KITH_DOUBLE);
    const kith_points two = kith_points_packed(xyz, 4, KITH_DOUBLE);
    kith_batch batch = {.size = sizeof batch, .systems = 3, .offsets = offsets};
    kith_pairs list = {.size = sizeof list};
    int32_t reasons[3] = {-1, -1, -1};
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = 1;
    o.skin = 0.2;
    kept k = kept_open(ctx, &o, "refusals");
    check_refused(ctx, kith_verlet_reasons(k.verlet, 3, reasons), KITH_INVALID, &list,
                  "no successful update");
    check_refused(ctx, kith_verlet_update_batch(k.verlet, &points, NULL, NULL, &list), KITH_INVALID,
                  &list, "batch is NULL");
    batch.offsets = offsets + 1;
    check_refused(ctx, kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list),
                  KITH_INVALID, &list, "batch.offsets[0] is 2");
    batch.offsets = offsets;
    CHECK(kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list) == KITH_OK &&
              list.n == 3 && list.i[1] == 2 && list.j[2] == 5,
          "%s", kith_message(ctx));
    CHECK(kith_verlet_reasons(k.verlet, 2, reasons) == KITH_INVALID &&
              strstr(kith_message(ctx), "systems is 2"),
          "%s", kith_message(ctx));
    check_refused(ctx, kith_verlet_update(k.verlet, &points, NULL, &k.list), KITH_INVALID, &k.list,
                  "the list is of batches");
    check_no_reasons(&k, &points, &batch, &list);
    xyz[9] = (double)NAN;
    check_refused(ctx, kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list),
                  KITH_NOT_FINITE, &list, "system 1");
    CHECK(kith_verlet_reasons(k.verlet, 3, reasons) == KITH_INVALID, "reasons of a failure");
    xyz[9] = 12;
    CHECK(kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list) == KITH_OK &&
              list.n == 2 && kith_verlet_reasons(k.verlet, 3, reasons) == KITH_OK &&
              reasons[0] == KITH_VERLET_KEPT && reasons[1] == KITH_VERLET_MOVED &&
              reasons[2] == KITH_VERLET_KEPT,
          "%s: reasons %d %d %d", kith_message(ctx), reasons[0], reasons[1], reasons[2]);
    batch.systems = 2;
    CHECK(kith_verlet_update_batch(k.verlet, &two, NULL, &batch, &list) == KITH_OK && list.n == 1 &&
              kith_verlet_reasons(k.verlet, 2, reasons) == KITH_OK &&
              reasons[0] == KITH_VERLET_KEPT && reasons[1] == KITH_VERLET_KEPT,
          "%s", kith_message(ctx));
    batch.systems = 3;
    CHECK(kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list) == KITH_OK &&
              list.n == 2 && kith_verlet_reasons(k.verlet, 3, reasons) == KITH_OK &&
              reasons[1] == KITH_VERLET_KEPT && reasons[2] == KITH_VERLET_FIRST,
          "%s", kith_message(ctx));
    kith_pairs_free(&list);
    kept_close(&k);
    k = kept_open(ctx, &o, "one system");
    CHECK(kith_verlet_update(k.verlet, &points, NULL, &k.list) == KITH_OK, "%s", kith_message(ctx));
    check_refused(ctx, kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list),
                  KITH_INVALID, &list, "the list is of one system");
    kept_close(&k);
    check_first_fails(ctx, &o, &points, &batch, &list);
    kith_pairs_free(&list);
}

/** On a GPU lists of batches are refused. */
static void check_unsupported(kith_ctx *ctx)
{
    const double xyz[3] = {0};
    const int64_t offsets[] = {0, 1};
    const kith_points points = kith_points_packed(xyz, 1, KITH_DOUBLE);
    const kith_batch batch = {.size = sizeof batch, .systems = 1, .offsets = offsets};
    kith_pairs list = {.size = sizeof list};
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = 1;
    kept k = kept_open(ctx, &o, "on a GPU");
    check_refused(ctx, kith_verlet_update_batch(k.verlet, &points, NULL, &batch, &list),
                  KITH_UNSUPPORTED, &list, "on CPU cores");
    kept_close(&k);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    if (strncmp(backend, "cpu", 3) == 0) {
        check_forms(ctx);
        check_refusals(ctx);
    } else {
        check_unsupported(ctx);
    }
    kith_close(ctx);
    return check_done();
}
