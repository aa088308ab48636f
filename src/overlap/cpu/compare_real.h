/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of blocks of replicas, and their counters, for one precision. Included by
 * compare_kernel.c, which defines VECTOR, ROWS, VECTORS, multiply_add_f and _d, members and
 * resolve, through per_precision.h, which defines `real` and KITH_REAL: each function here becomes
 * two, in double (suffix _d) and in float (_f). vector_f and vector_d, and the square roots root_f
 * and root_d, are those of engine/cpu/lanes.h. compare.h defines panels, blocks and slices. WIDTH
 * is the number of replicas of a panel.
 */

/** Compute the products of ROWS replicas of one panel with the replicas in VECTORS vectors of
 *  another, summed over n numbers in registers.
 *  @param a     in its panel, first number of the first of the ROWS replicas; its next number is
 *               WIDTH numbers further on
 *  @param b     the first number of the first replica of the VECTORS vectors, in their panel
 *  @param n     numbers of each replica that are multiplied: those of a slice
 *  @param add   true: add the products to those in `to`; false: write them
 *  @param to    [ROWS][KITH_COMPARE_BLOCK] products, of which the first VECTORS vectors of each row
 *               are set */
KITH_INLINE void KITH_REAL(multiply)(const real *a, const real *b, int64_t n, bool add, real *to)
{
    enum { LANES = VECTOR / sizeof(real), WIDTH = KITH_PANEL_BYTES / sizeof(real) };
    KITH_REAL(vector) sum[ROWS][VECTORS] = {{{0}}};
    for (int64_t k = 0; k < n; k++) {
        KITH_REAL(vector) right[VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) { /* gcc would copy all at once through the stack */
            memcpy(&right[v], b + k * WIDTH + v * LANES, sizeof right[v]);
        }
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            /* one number in all lanes; subtracting 0 changes no number, not even -0 */
            const KITH_REAL(vector) left = a[k * WIDTH + r] - (KITH_REAL(vector)){0};
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++) {
                sum[r][v] = KITH_REAL(multiply_add)(left, right[v], sum[r][v]);
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++) {
            real *at = to + (int64_t)r * KITH_COMPARE_BLOCK + (int64_t)v * LANES;
            KITH_REAL(vector) old = {0};
            if (add) {
                memcpy(&old, at, sizeof old);
            }
            old += sum[r][v];
            memcpy(at, &old, sizeof old);
        }
    }
}

/** Compute the products of the replicas of block I with those of block J over one slice, numbers
 *  [from, from + n) of the replicas; unless it is the first slice, add them to those of earlier
 *  slices. Of a block with itself, pairs of panels below the diagonal are skipped.
 *  @param products  [KITH_COMPARE_BLOCK][KITH_COMPARE_BLOCK] */
static void KITH_REAL(multiply_slice)(const struct kith__compare *compare, real *products,
                                      int64_t from, int64_t n, int64_t I, int64_t J)
{
    enum {
        WIDTH = KITH_PANEL_BYTES / sizeof(real),
        PANELS = KITH_COMPARE_BLOCK / WIDTH,
        COLUMNS = (size_t)VECTORS * VECTOR / sizeof(real)
    };
    const struct kith__overlap *o = compare->overlap;
    const real *panels = compare->panels;
    const int64_t size = o->dim * WIDTH;                         /* numbers of a panel */
    const int64_t rows = (members(o, I) + WIDTH - 1) / WIDTH;    /* panels of I */
    const int64_t columns = (members(o, J) + WIDTH - 1) / WIDTH; /* panels of J */
    for (int64_t q = 0; q < columns; q++) {
        for (int64_t c = 0; c < WIDTH; c += COLUMNS) {
            const real *right = panels + (J * PANELS + q) * size + from * WIDTH + c;
            for (int64_t p = 0; p < (I == J ? q + 1 : rows); p++) {
                const real *left = panels + (I * PANELS + p) * size + from * WIDTH;
                for (int64_t r = 0; r < WIDTH; r += ROWS) {
                    real *to = products + (p * WIDTH + r) * KITH_COMPARE_BLOCK + q * WIDTH + c;
                    KITH_REAL(multiply)(left + r, right, n, from > 0, to);
                }
            }
        }
    }
}

/** Find the counters of both ends of the bands of n products of one row, as struct kith__band
 *  describes. Without branches, so that the compiler vectorises the loop.
 *  @param c               [n] products
 *  @param weight          weight of the row's replica (kith__overlap_weight)
 *  @param weights         [n] weights of the columns' replicas
 *  @param[out] low, high  [n] counters of the lower and upper ends */
static void KITH_REAL(find_counters)(const struct kith__compare *compare, const real *restrict c,
                                     real weight, const real *restrict weights, int64_t n,
                                     int32_t *restrict low, int32_t *restrict high)
{
    const struct kith__band *band = &compare->band;
    const bool distance = compare->overlap->measure == KITH_DISTANCE;
    const real half = (real)band->half, edge = (real)band->edge, spread = half + edge;
    const real factor = (real)band->factor, offset = (real)band->offset;
    /* the conversion to an integer truncates: numbers above `most` give the largest counter */
    const real least = (real)band->least, most = (real)band->most + (real)0.5;
    for (int64_t j = 0; j < n; j++) {
        real from, to;
        if (distance) {
            const real square = (weight + weights[j]) - 2 * c[j];
            const real less = square - half, more = square + half;
            from = KITH_REAL(root)(less > 0 ? less : 0) - edge;
            to = KITH_REAL(root)(more > 0 ? more : 0) + edge;
        } else {
            const real t = c[j] * (weight * weights[j]);
            from = t - spread;
            to = t + spread;
        }
        from = from * factor + offset;
        to = to * factor + offset;
        from = from > least ? from : least;
        to = to > least ? to : least;
        low[j] = (int32_t)(from < most ? from : most);
        high[j] = (int32_t)(to < most ? to : most);
    }
}

/** Count all pairs of a replica of block I and one of block J, where I <= J; if I is J, each pair
 *  once. Pairs whose band holds an edge are decided by the definition. When the call is to stop,
 *  the function returns early, and pairs may have wrong counters: no counts are reported then. */
static void KITH_REAL(count_block)(const struct kith__compare *compare,
                                   struct kith__compare_own *own, int64_t I, int64_t J)
{
    const struct kith__overlap *o = compare->overlap;
    const real *weights = compare->weights;
    real *products = own->products;
    const int64_t size = o->bins + 2;
    for (int64_t from = 0; from < o->dim && !kith__cancelled(compare->ctx);
         from += KITH_COMPARE_DEPTH) {
        const int64_t left = o->dim - from;
        const int64_t n = left < KITH_COMPARE_DEPTH ? left : KITH_COMPARE_DEPTH;
        KITH_REAL(multiply_slice)(compare, products, from, n, I, J);
    }
    for (int64_t row = 0; row < members(o, I) && !kith__cancelled(compare->ctx); row++) {
        int32_t low[KITH_COMPARE_BLOCK], high[KITH_COMPARE_BLOCK];
        const int64_t i = I * KITH_COMPARE_BLOCK + row;
        const int64_t first = I == J ? row + 1 : 0, j = J * KITH_COMPARE_BLOCK + first;
        const real *c = products + row * KITH_COMPARE_BLOCK + first;
        const int64_t n = members(o, J) - first;
        KITH_REAL(find_counters)(compare, c, weights[i], weights + j, n, low, high);
        for (int64_t k = 0; k < n; k++) {
            int32_t counter = low[k];
            if (counter != high[k] && !kith__skip(compare->ctx, k, o->dim)) {
                counter = resolve(o, i, j + k, (double)c[k]);
            }
            own->counts[(k & (compare->copies - 1)) * size + counter]++;
        }
    }
}
