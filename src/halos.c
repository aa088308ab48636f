/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public measuring of groups: check what is given, sort particles by group, and sum over each
 * group. Large groups are shared among threads piece by piece, small ones group by group.
 */
#include "halo.h"
#include "spheres.h"

#include <stdlib.h>
#include <string.h>

void kith_halo_input_init(kith_halo_input *input)
{
    *input = (kith_halo_input){.size = sizeof *input};
}

/** Members sorted by group. */
struct sorted {
    int32_t *order;
    int64_t *begin; /* [groups + 1] where each group begins in order */
};

static kith_status check_call(kith_ctx *ctx, const kith_points *points, const kith_groups *groups,
                              const kith_halo_input *input, const kith_halos *out)
{
    KITH_CHECK(ctx, input->size == sizeof *input, KITH_INVALID,
               "input.size is %zu, expected %zu: fill the struct with kith_halo_input_init",
               input->size, sizeof *input);
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    KITH_CHECK(ctx, out->owner || !out->halo, KITH_INVALID,
               "out holds an array that is not the library's: zero it");
    KITH_CHECK(ctx, points->memory == KITH_HOST, KITH_UNSUPPORTED,
               "points are in device memory; halos are measured from host memory");
    KITH_CHECK(ctx, groups != NULL, KITH_INVALID, "groups is NULL");
    KITH_CHECK(ctx, groups->points == points->n, KITH_INVALID,
               "groups are of %lld particles, but there are %lld", (long long)groups->points,
               (long long)points->n);
    KITH_CHECK(ctx, groups->n >= 0 && groups->n <= INT32_MAX, KITH_INVALID,
               "groups.n is %lld, expected 0 or more", (long long)groups->n);
    KITH_CHECK(ctx, points->n == 0 || groups->labels, KITH_INVALID, "groups.labels is NULL");
    return KITH_OK;
}

/** Index of the first element that is not finite or, of masses, not above 0; n when there is none.
 */
static int64_t first_bad(const kith_ctx *ctx, const void *data, int64_t n, kith_precision precision,
                         bool positive)
{
    int64_t bad = n;
    if (!data) {
        return bad;
    }
#pragma omp parallel for num_threads(kith__threads_for(ctx, n)) reduction(min : bad)
    for (int64_t k = 0; k < n; k++) {
        const double value = kith__real_at(data, k, precision);
        if (!isfinite(value) || (positive && !(value > 0))) {
            bad = k < bad ? k : bad;
        }
    }
    return bad;
}

static kith_status check_input(kith_ctx *ctx, const struct kith__question *q,
                               const kith_halo_input *input)
{
    const struct {
        const char *name;
        const void *data;
        int width;
        bool positive;
    } arrays[] = {{"masses", input->masses, 1, true},
                  {"velocities", input->velocities, 3, false},
                  {"potentials", input->potentials, 1, false},
                  {"densities", input->densities, 1, false}};
    const int64_t n = q->a.n;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        const int64_t all = n * arrays[k].width;
        const int64_t bad = first_bad(ctx, arrays[k].data, all, q->precision, arrays[k].positive);
        KITH_CHECK(ctx, bad == all, arrays[k].positive ? KITH_INVALID : KITH_NOT_FINITE,
                   "%s: that of particle %lld (counted from 0) is %g, expected a finite number%s",
                   arrays[k].name, (long long)bad / arrays[k].width,
                   kith__real_at(arrays[k].data, bad, q->precision),
                   arrays[k].positive ? " above 0" : "");
    }
    for (int64_t p = 0; p < n && input->types; p++) {
        KITH_CHECK(ctx, input->types[p] < KITH_TYPES, KITH_INVALID,
                   "types: that of particle %lld (counted from 0) is %d, expected 0 to %d",
                   (long long)p, input->types[p], KITH_TYPES - 1);
    }
    for (int s = 0; s < KITH_SPHERES; s++) {
        const double wanted = input->sphere_density[s];
        KITH_CHECK(ctx, wanted >= 0 && isfinite(wanted), KITH_INVALID,
                   "sphere_density[%d] is %g, expected a density or 0", s, wanted);
        KITH_CHECK(ctx, wanted == 0 || q->dim == 3, KITH_INVALID,
                   "sphere_density[%d] is %g, but the box is flat: spheres need dim 3", s, wanted);
    }
    return KITH_OK;
}

static kith_status check_positions(kith_ctx *ctx, const struct kith__question *q)
{
    for (int64_t p = 0; p < q->a.n; p++) {
        double r[3];
        int32_t image[3];
        kith__position(q, p, r);
        if (!isfinite(r[0] + r[1] + r[2])) {
            return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, p);
        }
        if (!kith__wrap_d(&q->box_d, r, image)) {
            return kith__refuse(ctx, q, "points", KITH_LIMIT, p);
        }
    }
    return KITH_OK;
}

/** Sort by group, stable: a counting sort. */
static kith_status sort_members(kith_ctx *ctx, const kith_groups *groups, struct sorted *out)
{
    const int32_t *labels = groups->labels;
    out->begin = kith__alloc((size_t)(groups->n + 2) * sizeof *out->begin);
    KITH_CHECK(ctx, out->begin, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)groups->n);
    memset(out->begin, 0, (size_t)(groups->n + 2) * sizeof *out->begin);
    for (int64_t p = 0; p < groups->points; p++) {
        KITH_CHECK(ctx, labels[p] >= 0 && labels[p] <= groups->n, KITH_INVALID,
                   "groups.labels[%lld] is %d, expected 0 to %lld", (long long)p, labels[p],
                   (long long)groups->n);
        out->begin[labels[p]]++;
    }
    int64_t sum = 0;
    for (int64_t g = 1; g <= groups->n; g++) {
        const int64_t members = out->begin[g];
        KITH_CHECK(ctx, members > 0, KITH_INVALID, "group %lld has no particle: no label names it",
                   (long long)g);
        out->begin[g] = sum;
        sum += members;
    }
    out->order = kith__alloc((size_t)sum * sizeof *out->order);
    KITH_CHECK(ctx, out->order, KITH_NO_MEMORY, "out of memory for %lld members", (long long)sum);
    for (int64_t p = 0; p < groups->points; p++) {
        if (labels[p] > 0) {
            out->order[out->begin[labels[p]]++] = (int32_t)p;
        }
    }
    /* begin[g] is now where group g ends, which is where group g + 1 begins: begin[0] is 0 */
    out->begin[0] = 0;
    return KITH_OK;
}

static kith_status measure(kith_ctx *ctx, const struct kith__members *members,
                           const struct sorted *sorted, kith_halos *out)
{
    enum { LARGE = 8 * KITH_HALO_PIECE };
    const int64_t *begin = sorted->begin;
    int64_t most = 0;
    for (int64_t g = 0; g < out->n; g++) {
        most = begin[g + 1] - begin[g] > most ? begin[g + 1] - begin[g] : most;
    }
    const int64_t pieces = most / KITH_HALO_PIECE + 1;
    struct kith__halo_sums *parts = kith__alloc((size_t)pieces * sizeof *parts);
    KITH_CHECK(ctx, parts, KITH_NO_MEMORY, "out of memory for a group of %lld", (long long)most);
    const int threads = kith__threads_for(ctx, begin[out->n]);
    for (int64_t g = 0; g < out->n; g++) {
        if (begin[g + 1] - begin[g] > LARGE) {
            kith__halo_measure(members, begin[g], begin[g + 1] - begin[g], parts, threads,
                               &out->halo[g]);
        }
    }
    free(parts);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t g = 0; g < out->n; g++) {
        struct kith__halo_sums own[LARGE / KITH_HALO_PIECE];
        if (begin[g + 1] - begin[g] <= LARGE) {
            kith__halo_measure(members, begin[g], begin[g + 1] - begin[g], own, 1, &out->halo[g]);
        }
    }
    return KITH_OK;
}

static kith_status make_room(kith_ctx *ctx, int64_t n, kith_halos *out)
{
    if (!out->owner) {
        out->owner = calloc(1, sizeof(struct kith__buffer));
    }
    out->halo = out->owner ? kith__buffer_need(out->owner, (size_t)n * sizeof *out->halo) : NULL;
    KITH_CHECK(ctx, out->halo, KITH_NO_MEMORY, "out of memory for %lld halos", (long long)n);
    out->n = n;
    return KITH_OK;
}

kith_status kith_halos_measure(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                               const kith_groups *groups, const kith_halo_input *input,
                               kith_halos *out)
{
    KITH_CHECK(NULL, ctx != NULL, KITH_INVALID, "ctx is NULL");
    ctx->message[0] = '\0';
    kith_halo_input nothing;
    kith_halo_input_init(&nothing);
    input = input ? input : &nothing;
    struct kith__question question;
    KITH_TRY(kith__question_space(ctx, points, box, &question));
    KITH_TRY(check_call(ctx, points, groups, input, out));
    const struct kith__members members = {.question = &question, .input = input};
    struct sorted sorted = {0};
    kith_status status;
    KITH_GO(check_positions(ctx, &question));
    KITH_GO(check_input(ctx, &question, input));
    KITH_GO(sort_members(ctx, groups, &sorted));
    KITH_GO(make_room(ctx, groups->n, out));
    KITH_GO(measure(ctx, &(struct kith__members){&question, input, sorted.order}, &sorted, out));
    KITH_GO(kith__spheres_measure(ctx, box, &members, out));
done:
    free(sorted.order);
    free(sorted.begin);
    if (status != KITH_OK && out->owner) {
        out->n = 0;
    }
    return status;
}

void kith_halos_free(kith_halos *halos)
{
    if (halos && halos->owner) {
        kith__buffer_free(halos->owner);
        free(halos->owner);
    }
    if (halos) {
        *halos = (kith_halos){0};
    }
}
