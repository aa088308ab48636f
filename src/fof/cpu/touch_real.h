/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether two large clumps hold a pair of friends, for one precision: divide and conquer. The
 * larger set of particles is halved in space until the bounding boxes are further apart than the
 * cutoff, or the sets are small enough to test all pairs. Included by link_real.h.
 */

/** A set of particles and its bounding box. */
struct KITH_REAL(flock) {
    int32_t *place;    /**< [n] slots */
    int64_t n;         /**< particles */
    real lo[3], hi[3]; /**< corners of the bounding box [length] */
};

/** Set the bounding box of a set. */
static void KITH_REAL(enclose)(const struct KITH_REAL(seeker) *me, struct KITH_REAL(flock) *a)
{
    const real *const axis[3] = {me->x, me->y, me->z};
    for (int k = 0; k < 3; k++) {
        a->lo[k] = a->hi[k] = axis[k][a->place[0]];
        for (int64_t p = 1; p < a->n; p++) {
            const real x = axis[k][a->place[p]];
            a->lo[k] = x < a->lo[k] ? x : a->lo[k];
            a->hi[k] = x > a->hi[k] ? x : a->hi[k];
        }
    }
}

/** Halve a set at the middle of the longest side of its bounding box; the upper half goes to
 *  *upper. Of coincident particles one is kept. */
static void KITH_REAL(halve)(const struct KITH_REAL(seeker) *me, struct KITH_REAL(flock) *a,
                             struct KITH_REAL(flock) *upper)
{
    int k = a->hi[1] - a->lo[1] > a->hi[0] - a->lo[0] ? 1 : 0;
    k = a->hi[2] - a->lo[2] > a->hi[k] - a->lo[k] ? 2 : k;
    const real *const axis[3] = {me->x, me->y, me->z};
    const real middle = a->lo[k] + (a->hi[k] - a->lo[k]) / 2;
    upper->n = 0;
    if (!(a->lo[k] < a->hi[k])) {
        a->n = 1;
        return;
    }
    int64_t low = 0;
    int64_t high = a->n;
    while (low < high) {
        const int32_t p = a->place[low];
        if (axis[k][p] <= middle && axis[k][p] < a->hi[k]) {
            low++;
        } else {
            a->place[low] = a->place[--high];
            a->place[high] = p;
        }
    }
    upper->place = a->place + low;
    upper->n = a->n - low;
    a->n = low;
    KITH_REAL(enclose)(me, a);
    KITH_REAL(enclose)(me, upper);
}

/** Whether some particle of a is within the cutoff of one of b, which is shifted by `moved`
 *  [length]. */
static bool KITH_REAL(flocks_touch)(const struct KITH_REAL(seeker) *me, struct KITH_REAL(flock) a,
                                    struct KITH_REAL(flock) b, const struct kith__image *image,
                                    const double moved[3])
{
    double gap2 = 0;
    for (int k = 0; k < 3; k++) {
        const double above = (double)b.lo[k] + moved[k] - (double)a.hi[k];
        const double below = (double)a.lo[k] - ((double)b.hi[k] + moved[k]);
        const double gap = above > below ? above : below;
        gap2 += gap > 0 ? gap * gap : 0;
    }
    if (gap2 > me->f->grid->near * me->f->grid->near ||
        !kith__sweep_goes_on(me->sweep, a.n + b.n)) {
        return false;
    }
    if (a.n * b.n <= MANY_PAIRS) {
        for (int64_t i = 0; i < a.n; i++) {
            for (int64_t j = 0; j < b.n; j++) {
                if (KITH_REAL(apart)(me, a.place[i], b.place[j], image) <= me->cutoff2) {
                    return true;
                }
            }
        }
        return false;
    }
    const bool first = a.n > b.n;
    struct KITH_REAL(flock) upper;
    KITH_REAL(halve)(me, first ? &a : &b, &upper);
    return KITH_REAL(flocks_touch)(me, a, b, image, moved) ||
           (upper.n > 0 &&
            KITH_REAL(flocks_touch)(me, first ? upper : a, first ? b : upper, image, moved));
}

/** Whether some particle of the clump is a friend of one of slots [begin, end): for many pairs. */
static bool KITH_REAL(touches_many)(const struct KITH_REAL(seeker) *me, int64_t begin, int64_t end,
                                    const struct kith__image *image)
{
    struct KITH_REAL(flock) a = {.n = me->end - me->begin};
    struct KITH_REAL(flock) b = {.n = end - begin};
    /* enough for any two clumps, so that what a call allocates does not depend on the threads */
    const int64_t all = me->f->grid->a.n;
    const int64_t most = 2 * me->f->largest < all ? 2 * me->f->largest : all;
    int32_t *place = kith__buffer_need(&me->sweep->memory[KITH_SWEEP_ORDER],
                                       (size_t)most * sizeof *place);
    if (!place) {
        me->sweep->failed = KITH_NO_MEMORY;
        return false;
    }
    for (int64_t p = 0; p < a.n; p++) {
        place[p] = (int32_t)(me->begin + p);
    }
    for (int64_t p = 0; p < b.n; p++) {
        place[a.n + p] = (int32_t)(begin + p);
    }
    a.place = place;
    b.place = place + a.n;
    KITH_REAL(enclose)(me, &a);
    KITH_REAL(enclose)(me, &b);
    double moved[3] = {0, 0, 0};
    for (int k = 0; k < 3 && image->moved; k++) {
        for (int m = 0; m < 3; m++) {
            moved[m] += image->shift[k] * me->f->question->box_d.row[k][m];
        }
    }
    return KITH_REAL(flocks_touch)(me, a, b, image, moved);
}
