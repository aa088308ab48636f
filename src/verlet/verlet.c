/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of lists that are kept over steps, and how far particles may move before a
 * list has to be rebuilt (verlet.h has the proof). Constant time; backends read coordinates.
 */
#include "verlet_batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/owned.h"
#include "core/sized.h"

/* Sizes of the structs in the version that introduced them (core/sized.h) [bytes]. */
enum {
    KITH_VERLET_OPTIONS_0_2 = KITH_SIZE_UP_TO(kith_verlet_options, extras),
    KITH_VERLET_STATE_0_2 = KITH_SIZE_UP_TO(kith_verlet_state, allowed),
    KITH_PAIRS_0_1 = KITH_SIZE_UP_TO(kith_pairs, owner)
};

static const kith_verlet_options defaults = {.size = sizeof(kith_verlet_options)};

/* kith_verlet_options_init_sized, kith_verlet_options_init */
KITH_INIT_CALLS(kith_verlet_options, KITH_VERLET_OPTIONS_0_2)

/** Make a public call of a kept list: KITH_CALL with its context. */
#define KITH_VERLET_CALL(verlet, status, work) \
    do { \
        if (verlet) { \
            KITH_CALL((verlet)->ctx, status, work); \
        } else { \
            *(status) = kith__fail(NULL, KITH_INVALID, "verlet is NULL"); \
        } \
    } while (0)

/* ------------------------------------------------------------------------------- how far is far */

/** Compute two sums over the periodic axes of verlet.h, sum |B_k| and sum |B_k| / h_k.
 *  @param[out] rows     sum of the lengths of the rows [length]
 *  @param[out] heights  sum of the lengths of the rows, each in heights of the box across it */
static void sum_rows(const struct kith__question *q, double *rows, double *heights)
{
    *rows = *heights = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            const double length = kith__length(q->box_d.row[k]);
            *rows += length;
            *heights += length / q->height[k];
        }
    }
}

/** Return X of verlet.h, a bound on |d| of all pairs of a question [length]; infinity where q of
 *  verlet.h is 1/2 or more: the box is so flat that rounding errors have no useful bound. */
static double bound_of_pairs(const struct kith__question *q)
{
    const double eps = kith__epsilon(q);
    double rows, heights;
    sum_rows(q, &rows, &heights);
    const double part = 3 * eps * (1 + 2 * heights);
    return part < 0.5 ? (q->cutoff * (1 + 8 * eps) + 24 * eps * rows) / (1 - part)
                      : (double)INFINITY;
}

/** Return Y of verlet.h: all (i, j, S) with |d| up to this are pairs of a question [length]; may be
 *  negative. */
static double certain_pairs(const struct kith__question *q)
{
    const double eps = kith__epsilon(q);
    double rows, heights;
    sum_rows(q, &rows, &heights);
    return (q->cutoff * (1 - 8 * eps) - 24 * eps * rows) / (1 + 3 * eps * (1 + 2 * heights));
}

/** Compute the strain A^T A - I, without the cancellation of a difference of nearly equal
 *  numbers. */
static void strain_of(double a[3][3], double strain[3][3])
{
    double g[3][3];
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m < 3; m++) {
            g[l][m] = a[l][m] - (l == m); /* (I + g)^T (I + g) - I = g + g^T + g^T g */
        }
    }
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m < 3; m++) {
            strain[l][m] = g[l][m] + g[m][l] + g[0][l] * g[0][m] + g[1][l] * g[1][m] +
                           g[2][l] * g[2][m];
        }
    }
}

/** Return the Frobenius norm of a matrix.
 *  @param diagonal  false: only elements off the diagonal count */
static double norm_of(double h[3][3], bool diagonal)
{
    double sum = 0;
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m < 3; m++) {
            sum += l != m || diagonal ? h[l][m] * h[l][m] : 0;
        }
    }
    return sqrt(sum);
}

/** Rotate a symmetric matrix in the plane (p, q) so that h[p][q] becomes 0: a Jacobi rotation,
 *  which keeps the eigenvalues. t is the tangent of the smaller of the two possible angles. */
static void rotate(double h[3][3], int p, int q)
{
    if (h[p][q] == 0) {
        return;
    }
    const double theta = (h[q][q] - h[p][p]) / (2 * h[p][q]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1);
    const double s = t * c;
    for (int k = 0; k < 3; k++) {
        const double kp = h[k][p];
        const double kq = h[k][q];
        h[k][p] = c * kp - s * kq;
        h[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        const double pk = h[p][k];
        const double qk = h[q][k];
        h[p][k] = c * pk - s * qk;
        h[q][k] = s * pk + c * qk;
    }
}

/** Return true when a matrix is exactly the identity. */
static bool is_identity(double a[3][3])
{
    bool yes = true;
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m < 3; m++) {
            yes = yes && a[l][m] == (l == m);
        }
    }
    return yes;
}

/** Find bounds on the singular values of A: the eigenvalues of A^T A - I by Jacobi's rotations,
 *  widened by the norm of what these leave off the diagonal (Weyl's inequality), and by rounding
 *  errors.
 *  @param[out] least  lower bound; 0 where the norm of the strain A^T A - I is 1 or more
 *  @param[out] most   upper bound; infinity where that norm is 1 or more */
static void find_stretch(double a[3][3], double *least, double *most)
{
    enum { SWEEPS = 8 }; /* convergence is quadratic; what is left is added to the bounds */
    double h[3][3];
    strain_of(a, h);
    const double norm = norm_of(h, true);
    if (is_identity(a) || !(norm < 1)) {
        *least = is_identity(a);
        *most = is_identity(a) ? 1 : (double)INFINITY;
        return;
    }
    for (int k = 0; k < SWEEPS; k++) {
        rotate(h, 0, 1);
        rotate(h, 0, 2);
        rotate(h, 1, 2);
    }
    const double low = fmin(h[0][0], fmin(h[1][1], h[2][2]));
    const double high = fmax(h[0][0], fmax(h[1][1], h[2][2]));
    /* 1024: ample for the roundings of the strain and of 3 SWEEPS rotations */
    const double error = norm_of(h, false) + 1024 * DBL_EPSILON * (1 + norm);
    *least = sqrt(fmax(0, 1 + low - error)) * (1 - 4 * DBL_EPSILON);
    *most = sqrt(1 + high + error) * (1 + 4 * DBL_EPSILON);
}

/** Return true when two boxes have equal periodic axes, with equal rows. */
static bool is_same_box(const struct kith__question *a, const struct kith__question *b)
{
    bool same = true;
    for (int k = 0; k < 3; k++) {
        same = same && a->box_d.periodic[k] == b->box_d.periodic[k];
        for (int m = 0; m < 3 && a->box_d.periodic[k]; m++) {
            same = same && a->box_d.row[k][m] == b->box_d.row[k][m];
        }
    }
    return same;
}

/** Return element (l, m) of inverse(B0) B, which keeps fractional coordinates. box_d.inverse is the
 *  transpose of the inverse matrix of verlet.h: row k has fractional coordinate k. */
static double element_of_map(const struct kith__question *from, const struct kith__question *to,
                             int l, int m)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += from->box_d.inverse[k][l] * to->box_d.row[k][m];
    }
    return sum;
}

/** Return the sum of the absolute components of v. */
static double norm_1(const double v[3])
{
    return fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
}

/** Choose A and t so that the fractional coordinates of a position stay, and set the bounds of
 *  rounding errors. A is exactly the identity where the periodic rows of both boxes are equal.
 *  @param from  box at the reference
 *  @param to    box now */
static void choose_map(const struct kith__question *from, const struct kith__question *to,
                       struct kith__verlet_map *map)
{
    const bool same = is_same_box(from, to);
    const double *o = from->box_d.origin;
    double inverse = 0;
    *map = (struct kith__verlet_map){.norm_a = 0};
    for (int l = 0; l < 3; l++) {
        for (int m = 0; m < 3; m++) {
            map->a[l][m] = same ? l == m : element_of_map(from, to, l, m);
        }
        map->norm_a = fmax(map->norm_a, norm_1(map->a[l]));
    }
    for (int k = 0; k < 3; k++) {
        map->by[k] = to->box_d.origin[k] -
                     (o[0] * map->a[0][k] + o[1] * map->a[1][k] + o[2] * map->a[2][k]);
        if (to->box_d.periodic[k]) {
            memcpy(map->row[k], to->box_d.row[k], sizeof map->row[k]);
            memcpy(map->inverse[k], to->box_d.inverse[k], sizeof map->inverse[k]);
        }
        map->norm_row[k] = norm_1(map->row[k]);
        inverse = fmax(inverse, fmax(norm_1(map->inverse[k]), norm_1(from->box_d.inverse[k])));
    }
    map->norm_by = norm_1(map->by) + norm_1(to->box_d.origin) + map->norm_a * norm_1(o);
    map->far = from->box_d.orthorhombic && to->box_d.orthorhombic ? 0 : 64 * DBL_EPSILON * inverse;
}

/** Return R of verlet.h, a bound on sum |S0_k| |E_k|: by how much the change of the box changes the
 *  vector of a pair beyond A [length]. 0 where the boxes are equal. Both bounds of |S0_k| there are
 *  used: 12 and 4 are those of verlet.h.
 *  @param from   the question of the reference, with the radius cutoff + skin
 *  @param to     the question now
 *  @param bound  X of `to` [length] */
static double bound_of_residue(const struct kith__question *from, const struct kith__question *to,
                               double bound, const struct kith__verlet_map *map)
{
    const double kept = bound_of_pairs(from);
    double sum = 0;
    for (int k = 0; k < 3 && !is_same_box(from, to); k++) {
        if (!to->box_d.periodic[k]) {
            continue;
        }
        const double *row = from->box_d.row[k];
        double e[3];
        double size = map->norm_row[k]; /* sum of absolute terms of e, for its rounding error */
        for (int m = 0; m < 3; m++) {
            e[m] = to->box_d.row[k][m] -
                   (row[0] * map->a[0][m] + row[1] * map->a[1][m] + row[2] * map->a[2][m]);
            size += fabs(row[m]) * map->norm_a;
        }
        const double shift = fmax(bound / to->height[k] + 12, kept / from->height[k] + 4);
        sum += shift * (kith__length(e) + 16 * DBL_EPSILON * size);
    }
    return sum;
}

/** Find how far particles may move: max |u| of verlet.h. The kept pairs are those of `from`.
 *  @param from         the question of the reference, with the radius cutoff + skin
 *  @param to           the question now, with the radius cutoff
 *  @param[out] map     from the reference to now
 *  @param[out] limits  how distances at the reference bound those of now
 *  @return longest displacement [length]; 0 or less, or NaN: the list cannot be kept */
static double find_allowed(const struct kith__question *from, const struct kith__question *to,
                           struct kith__verlet_map *map, struct kith__verlet_limits *limits)
{
    choose_map(from, to, map);
    const double certain = certain_pairs(from);
    const double bound = bound_of_pairs(to);
    /* 64: ample for the roundings of all formulas of this file */
    const double more = bound_of_residue(from, to, bound, map) +
                        64 * DBL_EPSILON * (certain + bound);
    limits->farthest = bound + more;
    limits->nearest = certain_pairs(to) - more;
    find_stretch(map->a, &limits->least, &limits->most);
    return (certain * limits->least - limits->farthest) / 2;
}

struct kith__verlet_scale kith__verlet_scale_of(const struct kith__verlet_plan *plan)
{
    const struct kith__question *skin = &plan->skin;
    const double eps = kith__epsilon(skin);
    const double bound = bound_of_pairs(skin);
    /* squares of distances shorter than this lose bits by underflow, or become 0 */
    const double least = skin->precision == KITH_FLOAT ? 0x1p-70 : 0x1p-520;
    double rows, heights;
    sum_rows(skin, &rows, &heights);
    /* error: of the definition (BANDS in verlet.h), of the square and its root, of underflow */
    return (struct kith__verlet_scale){
        .cutoff = plan->now.cutoff,
        .width = (skin->cutoff - plan->now.cutoff) / KITH_VERLET_LAST_BAND,
        .error = (3 * eps * (1 + 2 * heights) + 4 * eps + 64 * DBL_EPSILON) * bound +
                 24 * eps * rows + least};
}

int64_t kith__verlet_guess(const struct kith__verlet_plan *plan, int64_t kept)
{
    const double part = plan->now.cutoff / plan->skin.cutoff;
    const int64_t guess = (int64_t)(1.1 * part * part * part * (double)kept) + 64;
    return plan->with_skin || guess > kept ? kept : guess;
}

/* ------------------------------------------------------------------------------------- planning */

/** Return true when pairs of this radius can be kept: it is at most KITH_VERLET_MOST_BOXES heights
 *  of the box, so that their shifts can be packed.
 *  @param skin  the question with the radius cutoff + skin */
static bool has_room(const struct kith__question *skin)
{
    bool room = true;
    for (int k = 0; k < 3; k++) {
        room = room && (!skin->box_d.periodic[k] ||
                        skin->cutoff <= KITH_VERLET_MOST_BOXES * skin->height[k]);
    }
    return room;
}

/** Return true when two questions have equal numbers of dimensions, and equal periodic axes. */
static bool is_alike(const struct kith__question *a, const struct kith__question *b)
{
    return a->dim == b->dim &&
           memcmp(a->box_d.periodic, b->box_d.periodic, sizeof a->box_d.periodic) == 0;
}

/** Decide, without reading coordinates, whether the list may be made from the kept pairs: set keep,
 *  reason, allowed, map, limits and fresh of the plan. */
static void choose(const struct kith_verlet *v, struct kith__verlet_plan *plan)
{
    const struct kith__question *from = &v->reference;
    const struct kith__question *to = &plan->now;
    struct kith__verlet_map ignored; /* from the present box to itself: the identity */
    plan->allowed = 0;
    if (!(find_allowed(&plan->skin, to, &ignored, &plan->fresh) > 0) || !has_room(&plan->skin)) {
        plan->reason = KITH_VERLET_ALWAYS;
    } else if (!v->valid) {
        plan->reason = KITH_VERLET_FIRST;
    } else if (v->asked) {
        plan->reason = KITH_VERLET_ASKED;
    } else if (from->a.n != to->a.n || from->precision != to->precision) {
        plan->reason = KITH_VERLET_PARTICLES;
    } else if (!is_alike(from, to)) {
        plan->reason = KITH_VERLET_BOX;
    } else {
        plan->allowed = find_allowed(from, to, &plan->map, &plan->limits);
        plan->keep = plan->allowed > 0;
        plan->allowed = plan->keep ? plan->allowed : 0;
        plan->reason = plan->keep ? KITH_VERLET_KEPT : KITH_VERLET_BOX;
    }
}

struct kith__list kith__verlet_form(const struct kith_verlet *v)
{
    const kith_verlet_options *o = &v->options;
    return (struct kith__list){.full = o->full,
                               .sorted = true,
                               .layout = o->layout,
                               .extras = o->extras,
                               .block_pairs = 1};
}

/** Make the list by a search, keeping no pairs: for the reason KITH_VERLET_ALWAYS. */
static kith_status search(kith_ctx *ctx, struct kith_verlet *v,
                          const struct kith__verlet_plan *plan, kith_pairs *out)
{
    v->rebuilt = true;
    v->valid = false;
    KITH_TRY(ctx->backend->pairs->fill(ctx, plan->with_skin ? &plan->skin : &plan->now, &plan->list,
                                       true, out));
    v->state.kept = 0;
    return KITH_OK;
}

kith_status kith__verlet_make(kith_ctx *ctx, struct kith_verlet *v,
                              const struct kith__question *now, const struct kith__question *skin,
                              kith_pairs *out)
{
    struct kith__verlet_plan plan = {.now = *now,
                                     .skin = *skin,
                                     .list = kith__verlet_form(v),
                                     .with_skin = v->options.with_skin};
    plan.kept = plan.list;
    plan.kept.layout = KITH_CSR;
    plan.kept.extras = KITH_SHIFTS;
    choose(v, &plan);
    v->displacement = 0;
    KITH_TRY(plan.reason == KITH_VERLET_ALWAYS ? search(ctx, v, &plan, out)
                                               : ctx->backend->verlet->update(ctx, v, &plan, out));
    v->reason = v->rebuilt && plan.keep ? KITH_VERLET_MOVED : plan.reason;
    v->allowed = plan.allowed;
    return KITH_OK;
}

void kith__verlet_add_update(struct kith_verlet *v)
{
    kith_verlet_state *state = &v->state;
    state->updates++;
    state->rebuilds += v->rebuilt;
    state->rebuilt = v->rebuilt;
    state->reason = v->reason;
    state->displacement = v->displacement;
    state->allowed = v->allowed;
    v->asked = false;
}

/** Update the list of one system: check points and box, and build two questions, with the radii
 *  cutoff and cutoff + skin. */
static kith_status update_one(struct kith_verlet *v, const kith_points *points, const kith_box *box,
                              kith_pairs *out)
{
    kith_ctx *ctx = v->ctx;
    const kith_verlet_options *o = &v->options;
    struct kith__question now, skin;
    KITH_TRY(kith__question_init(ctx, points, NULL, box, o->cutoff, "cutoff", &now));
    KITH_TRY(
        kith__question_init(ctx, points, NULL, box, o->cutoff + o->skin, "cutoff + skin", &skin));
    KITH_CHECK(ctx, !v->batch || v->state.updates == 0, KITH_INVALID,
               "the list is of batches: update it by kith_verlet_update_batch, or open another "
               "one");
    kith__verlet_free_batch(v); /* there is one where a first update, of a batch, failed */
    KITH_TRY(kith__end_call(ctx, kith__verlet_make(ctx, v, &now, &skin, out)));
    kith__verlet_add_update(v);
    return KITH_OK;
}

/** Update the list of a batch: check it, and build its two questions. */
static kith_status update_batch(struct kith_verlet *v, const kith_points *points,
                                const kith_box *box, const kith_batch *given, kith_pairs *out)
{
    kith_ctx *ctx = v->ctx;
    const kith_verlet_options *o = &v->options;
    struct kith__batch now, skin;
    KITH_TRY(kith__batch_read(ctx, "batch", given, points, NULL, box, o->cutoff, "cutoff", &now));
    KITH_TRY(kith__batch_read(ctx, "batch", given, points, NULL, box, o->cutoff + o->skin,
                              "cutoff + skin", &skin));
    KITH_CHECK(ctx, v->batch || v->state.updates == 0, KITH_INVALID,
               "the list is of one system: update it by kith_verlet_update, or open another one");
    KITH_CHECK(ctx, ctx->backend->verlet->batches, KITH_UNSUPPORTED,
               "kept lists of a batch are made on CPU cores: open the context with backend "
               "\"cpu\"");
    return kith__verlet_update_batch(v, &now, &skin, out);
}

/** kith_verlet_update or kith_verlet_update_batch for a list with all fields of this version.
 *  @param batch  NULL: one system */
static kith_status update(struct kith_verlet *v, const kith_points *points, const kith_box *box,
                          const kith_batch *batch, kith_pairs *out)
{
    kith_ctx *ctx = v->ctx;
    KITH_TRY(kith__check_memory(ctx, "list", out->memory));
    KITH_CHECK(ctx, out->owner || (!out->i && !out->j && !out->offsets), KITH_INVALID,
               "list's arrays are not the library's: set *list to zeros");
    return batch ? update_batch(v, points, box, batch, out) : update_one(v, points, box, out);
}

/* ----------------------------------------------------------------------------- public functions */

/** Run an update with a copy of the caller's struct that has all fields of this version.
 *  @param batch  NULL: one system */
static kith_status run(struct kith_verlet *v, const kith_points *points, const kith_box *box,
                       const kith_batch *batch, kith_pairs *list)
{
    kith_pairs own;
    v->batch_updated = false;
    KITH_RESULT_READ(v->ctx, list, KITH_PAIRS_0_1, &own);
    own.width = own.widest = own.overflowed = 0;
    const kith_status status = update(v, points, box, batch, &own);
    KITH_RESULT_WRITE(&own, KITH_PAIRS_0_1, list);
    return status;
}

kith_status kith_verlet_update(kith_verlet *verlet, const kith_points *points, const kith_box *box,
                               kith_pairs *list)
{
    kith_status status;
    KITH_VERLET_CALL(verlet, &status, run(verlet, points, box, NULL, list));
    if (status != KITH_OK && list) {
        list->n = list->rows = 0;
    }
    return status;
}

/** kith_verlet_update_batch within a public call. */
static kith_status run_batch(struct kith_verlet *v, const kith_points *points, const kith_box *box,
                             const kith_batch *batch, kith_pairs *out)
{
    v->batch_updated = false;
    KITH_CHECK(v->ctx, batch != NULL, KITH_INVALID, "batch is NULL");
    return run(v, points, box, batch, out);
}

kith_status kith_verlet_update_batch(kith_verlet *verlet, const kith_points *points,
                                     const kith_box *box, const kith_batch *batch, kith_pairs *list)
{
    kith_status status;
    KITH_VERLET_CALL(verlet, &status, run_batch(verlet, points, box, batch, list));
    if (status != KITH_OK && list) {
        list->n = list->rows = 0;
    }
    return status;
}

/** Check the options. They are checked once, when the list is opened. */
static kith_status check_options(kith_ctx *ctx, const kith_verlet_options *o)
{
    KITH_CHECK(ctx, isfinite(o->cutoff) && o->cutoff > 0, KITH_INVALID,
               "options.cutoff is %g, expected a positive, finite length", o->cutoff);
    KITH_CHECK(ctx, isfinite(o->skin) && o->skin >= 0 && isfinite(o->cutoff + o->skin),
               KITH_INVALID, "options.skin is %g, expected a finite length of 0 or more", o->skin);
    KITH_TRY(kith__check_flag(ctx, "options.with_skin", o->with_skin));
    KITH_TRY(kith__check_flag(ctx, "options.full", o->full));
    KITH_CHECK(ctx, o->layout == KITH_IJ || o->layout == KITH_CSR, KITH_INVALID,
               "options.layout is %d, expected KITH_IJ or KITH_CSR", (int)o->layout);
    return kith__check_extras(ctx, o->extras);
}

/** kith_verlet_open within a public call. */
static kith_status open_list(kith_ctx *ctx, const kith_verlet_options *options, kith_verlet **out)
{
    kith_verlet_options own = defaults;
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    KITH_CHECK(ctx, options != NULL, KITH_INVALID, "options is NULL");
    KITH_OPTIONS_READ(ctx, "options", kith_verlet_options_init, options, KITH_VERLET_OPTIONS_0_2,
                      &own);
    KITH_TRY(check_options(ctx, &own));
    struct kith_verlet *v = calloc(1, sizeof *v);
    KITH_CHECK(ctx, v != NULL, KITH_NO_MEMORY, "out of memory for a list");
    v->ctx = ctx;
    v->options = own;
    *out = v;
    return KITH_OK;
}

kith_status kith_verlet_open(kith_ctx *ctx, const kith_verlet_options *options, kith_verlet **out)
{
    kith_status status;
    if (out) {
        *out = NULL;
    }
    KITH_CALL(ctx, &status, open_list(ctx, options, out));
    return status;
}

/** kith_verlet_rebuild within a public call: make the next update search. */
static kith_status ask(struct kith_verlet *v)
{
    v->asked = true;
    return KITH_OK;
}

kith_status kith_verlet_rebuild(kith_verlet *verlet)
{
    kith_status status;
    KITH_VERLET_CALL(verlet, &status, ask(verlet));
    return status;
}

/** Copy the state to the first `size` bytes of a caller's struct. */
static kith_status read_state(const struct kith_verlet *v, kith_verlet_state *out, size_t size)
{
    KITH_CHECK(v->ctx, out != NULL, KITH_INVALID, "out is NULL");
    memcpy(out, &v->state, size < sizeof v->state ? size : sizeof v->state);
    return KITH_OK;
}

kith_status kith_verlet_read_sized(const kith_verlet *verlet, kith_verlet_state *out, size_t size)
{
    kith_status status;
    if (out) {
        memset(out, 0, size);
    }
    KITH_VERLET_CALL(verlet, &status, read_state(verlet, out, size));
    return status;
}

kith_status(kith_verlet_read)(const kith_verlet *verlet, kith_verlet_state *out)
{
    return kith_verlet_read_sized(verlet, out, KITH_VERLET_STATE_0_2);
}

kith_status kith_verlet_reasons(const kith_verlet *verlet, int64_t systems, int32_t *reasons)
{
    kith_status status;
    KITH_VERLET_CALL(verlet, &status, kith__verlet_reasons(verlet, systems, reasons));
    return status;
}

void kith__verlet_forget(struct kith_verlet *v)
{
    if (v->data) {
        v->ctx->backend->verlet->forget(v);
    }
}

void kith_verlet_close(kith_verlet *verlet)
{
    if (verlet) {
        kith__verlet_forget(verlet);
        kith__verlet_free_batch(verlet);
        free(verlet);
    }
}
