/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the caller's replicas to rows, for overlap.c: checks each value, finds whether all are
 * integers or spins, subtracts the mean, and computes squares; and the error bound of products
 * (kith__overlap_band). The mean over replicas is summed in double in their order. O(n dim).
 */
#include <float.h>
#include <pthread.h>
#include <string.h>

#include "overlap.h"
#include "engine/question.h"

/** What the check of replicas finds: of one range of replicas, or merged. */
struct findings {
    int64_t broken; /**< first replica with a value that is not finite; n: none */
    double largest; /**< largest |x| */
    bool not_whole; /**< some value is not an integer */
    bool not_spins; /**< some value is neither 1 nor -1 */
};

/** Return number k of replica i as the caller gave it; not for bits. */
static double value_at(const kith_replicas *r, int64_t i, int64_t k)
{
    return kith__real_at(r->values, i * r->stride + k, (kith_precision)r->type);
}

/* x rounded to an integer: the sum with 1.5 * 2^23, or 1.5 * 2^52, has no bits for a fraction. Huge
 * integers are changed, too; they are too large for exact products anyway. */
#define KITH_WHOLE_float(x) (((x) + 0x1.8p23f) - 0x1.8p23f)
#define KITH_WHOLE_double(x) (((x) + 0x1.8p52) - 0x1.8p52)

/* Define a function that checks the `dim` numbers of one replica, adds to *seen (but not to
 * seen->broken), and returns true when all values are finite. It has no early exit, so that the
 * compiler vectorises its loop.
 *   name  the function
 *   real  type of the numbers */
#define CHECK(name, real) \
    static bool name(const real *x, int64_t dim, struct findings *seen) \
    { \
        real most = 0; \
        int broken = 0, parts = 0, sizes = 0; \
        for (int64_t k = 0; k < dim; k++) { \
            const real size = x[k] < 0 ? -x[k] : x[k]; \
            most = size > most ? size : most; \
            broken |= !(size < (real)INFINITY); \
            parts |= x[k] != KITH_WHOLE_##real(x[k]); \
            sizes |= size != 1; \
        } \
        seen->largest = (double)most > seen->largest ? (double)most : seen->largest; \
        seen->not_whole = seen->not_whole || parts; \
        seen->not_spins = seen->not_spins || sizes; \
        return broken == 0; \
    }
CHECK(check_row_f, float)
CHECK(check_row_d, double)

/** Check replica i, and add what is found to *seen. */
static void check_row(const kith_replicas *r, int64_t i, struct findings *seen)
{
    const bool finite = r->type == KITH_FLOAT
                            ? check_row_f((const float *)r->values + i * r->stride, r->dim, seen)
                            : check_row_d((const double *)r->values + i * r->stride, r->dim, seen);
    if (!finite && i < seen->broken) {
        seen->broken = i;
    }
}

/** Run a loop over replicas, on as many threads as kith__threads_for gives for all their numbers,
 *  in ranges of about KITH_RANGE numbers.
 *  @param fn  processes a range of replicas */
static void loop_over_replicas(kith_ctx *ctx, const kith_replicas *r, kith__range_fn *fn,
                               void *state)
{
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, r->n * r->dim), r->n,
                      1 + KITH_RANGE / r->dim, fn, state);
}

/** State of the loop that checks all replicas. */
struct check_loop {
    const kith_replicas *replicas; /**< the replicas */
    pthread_mutex_t lock;          /**< guards `all` */
    struct findings all;           /**< merged findings */
};

/** Check replicas [begin, end), and merge what is found: a kith__range_fn. */
static void check_range(void *state, int64_t begin, int64_t end)
{
    struct check_loop *loop = state;
    struct findings seen = {.broken = loop->replicas->n};
    for (int64_t i = begin; i < end; i++) {
        check_row(loop->replicas, i, &seen);
    }
    pthread_mutex_lock(&loop->lock);
    struct findings *all = &loop->all;
    all->broken = seen.broken < all->broken ? seen.broken : all->broken;
    all->largest = seen.largest > all->largest ? seen.largest : all->largest;
    all->not_whole = all->not_whole || seen.not_whole;
    all->not_spins = all->not_spins || seen.not_spins;
    pthread_mutex_unlock(&loop->lock);
}

/** Check all replicas.
 *  @param[out] all  merged findings
 *  @return KITH_OK; KITH_NOT_FINITE, with the first value that is not finite in the message;
 *          KITH_CANCELLED */
static kith_status check_all(kith_ctx *ctx, const kith_replicas *r, struct findings *all)
{
    struct check_loop loop = {r, PTHREAD_MUTEX_INITIALIZER, {.broken = r->n}};
    loop_over_replicas(ctx, r, check_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    *all = loop.all;
    const int64_t broken = all->broken;
    for (int64_t k = 0; broken < r->n && k < r->dim; k++) {
        KITH_CHECK(ctx, isfinite(value_at(r, broken, k)), KITH_NOT_FINITE,
                   "number %lld of replica %lld is not finite, both counted from 0", (long long)k,
                   (long long)broken);
    }
    return KITH_OK;
}

/** State of the loops that compute means and copy rows; each loop sets the fields that it uses. */
struct rows_loop {
    kith_ctx *ctx;                 /**< context, for cancellation */
    const kith_replicas *replicas; /**< the replicas */
    double *means;                 /**< [dim] mean of each number over the replicas; NULL: none is
                                        subtracted */
    void *to;                      /**< [n][dim] contiguous rows; for spins [n][words] */
    int64_t words;                 /**< 64-bit words of a row of spins */
};

/** Compute the means of numbers [begin, end) over the replicas, summed in their order. */
static void find_means(void *state, int64_t begin, int64_t end)
{
    const struct rows_loop *loop = state;
    const kith_replicas *r = loop->replicas;
    for (int64_t k = begin; k < end; k++) {
        loop->means[k] = 0;
    }
    for (int64_t i = 0; i < r->n && !kith__skip(loop->ctx, i, end - begin); i++) {
        for (int64_t k = begin; k < end; k++) {
            loop->means[k] += value_at(r, i, k);
        }
    }
    for (int64_t k = begin; k < end; k++) {
        loop->means[k] /= (double)r->n;
    }
}

/** Copy replicas [begin, end), less the means, to contiguous rows; differences are rounded to the
 *  type of the numbers. */
static void copy_rows(void *state, int64_t begin, int64_t end)
{
    const struct rows_loop *loop = state;
    const kith_replicas *r = loop->replicas;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t k = 0; k < r->dim && !kith__skip(loop->ctx, k, 1); k++) {
            const double value = value_at(r, i, k) - (loop->means ? loop->means[k] : 0);
            kith__set_real(loop->to, i * r->dim + k, (kith_precision)r->type, value);
        }
    }
}

/** Set the rows of floats or doubles: the caller's, or a copy where the mean is subtracted or the
 *  caller's are not contiguous. Sets type, rows and stride. */
static kith_status make_rows(kith_ctx *ctx, const kith_replicas *r, bool subtract_mean,
                             struct kith__overlap *o)
{
    o->type = r->type;
    o->rows = r->values;
    o->stride = r->dim;
    if (!subtract_mean && r->stride == r->dim) {
        return KITH_OK;
    }
    void *rows = kith__work_need(&ctx->work, KITH_OVERLAP_ROWS,
                                 (size_t)(r->n * r->dim) * (size_t)r->type);
    double *means = NULL;
    KITH_CHECK(ctx, rows != NULL, KITH_NO_MEMORY, "out of memory for a copy of %lld replicas",
               (long long)r->n);
    if (subtract_mean) {
        means = kith__work_need(&ctx->work, KITH_OVERLAP_MEANS, (size_t)r->dim * sizeof *means);
        KITH_CHECK(ctx, means != NULL, KITH_NO_MEMORY, "out of memory for the mean");
        struct rows_loop mean = {.ctx = ctx, .replicas = r, .means = means};
        enum { NUMBERS = 64 }; /* numbers in one unit of work: a few cache lines of each replica */
        kith__pool_chunks(ctx->pool, kith__threads_for(ctx, r->n * r->dim), r->dim, NUMBERS,
                          find_means, &mean);
    }
    struct rows_loop copy = {.ctx = ctx, .replicas = r, .means = means, .to = rows};
    loop_over_replicas(ctx, r, copy_rows, &copy);
    o->rows = rows;
    return KITH_OK;
}

/** Pack the spins of replica i to `words` words: bit k % 64 of word k / 64 is set where number k is
 *  negative. */
static void pack_spins(const kith_replicas *r, int64_t i, int64_t words, uint64_t *to)
{
    memset(to, 0, (size_t)words * sizeof *to);
    for (int64_t k = 0; k < r->dim; k++) {
        to[k / 64] |= (uint64_t)(value_at(r, i, k) < 0) << (k % 64);
    }
}

/** Copy replicas [begin, end), bits or numbers that are spins, to rows of 64-bit words; the bits
 *  after the last byte of a replica are 0. */
static void copy_bits(void *state, int64_t begin, int64_t end)
{
    const struct rows_loop *loop = state;
    const kith_replicas *r = loop->replicas;
    for (int64_t i = begin; i < end; i++) {
        uint64_t *const to = (uint64_t *)loop->to + i * loop->words;
        if (r->type == KITH_BITS) {
            const size_t bytes = (size_t)(r->dim + 7) / 8;
            to[loop->words - 1] = 0;
            memcpy(to, (const char *)r->values + i * r->stride, bytes);
        } else {
            pack_spins(r, i, loop->words, to);
        }
    }
}

/** Set the rows of spins: packed bits, in scratch memory. Sets type, rows, stride and exact. */
static kith_status make_bits(kith_ctx *ctx, const kith_replicas *r, struct kith__overlap *o)
{
    const int64_t words = (r->dim + 63) / 64;
    uint64_t *rows = kith__work_need(&ctx->work, KITH_OVERLAP_ROWS,
                                     (size_t)(r->n * words) * sizeof *rows);
    KITH_CHECK(ctx, rows != NULL, KITH_NO_MEMORY, "out of memory for the bits of %lld replicas",
               (long long)r->n);
    struct rows_loop loop = {.ctx = ctx, .replicas = r, .to = rows, .words = words};
    loop_over_replicas(ctx, r, copy_bits, &loop);
    o->type = KITH_BITS;
    o->rows = rows;
    o->stride = words;
    o->exact = true;
    return KITH_OK;
}

/** Return a bound on the square that a replica equal to the mean has by rounding: (4 n 2^-53)^2
 *  times its square before the mean was subtracted, as a mean of n equal numbers has a relative
 *  error of at most n 2^-53, and with a factor of 4 to spare; 0 when no mean is subtracted. */
static double rounding_square(const kith_replicas *r, int64_t i, bool subtract_mean)
{
    double before = 0;
    for (int64_t k = 0; k < r->dim && subtract_mean; k++) {
        before += value_at(r, i, k) * value_at(r, i, k);
    }
    const double part = 2 * (double)r->n * DBL_EPSILON;
    return part * part * before;
}

/** State of the loop that computes squares. */
struct square_loop {
    const kith_replicas *replicas;       /**< the caller's replicas */
    const struct kith__overlap *overlap; /**< their rows */
    bool subtract_mean;                  /**< the mean was subtracted from the rows */
    double *square;                      /**< [n] results */
    pthread_mutex_t lock;                /**< guards the members below */
    int64_t zero;                        /**< first replica whose square is zero, within the bound
                                              of rounding_square; n: none */
    int64_t far;                         /**< first other replica whose square is too small or too
                                              large; n: none */
    double most;                         /**< largest square */
};

/** Compute the squares of replicas [begin, end), and merge what is found about them: a
 *  kith__range_fn. */
static void find_square_range(void *state, int64_t begin, int64_t end)
{
    static const double least = 1e-150, largest = 1e150; /* products of two squares are normal */
    struct square_loop *loop = state;
    int64_t zero = INT64_MAX, far = INT64_MAX;
    double most = 0;
    for (int64_t i = begin; i < end; i++) {
        const double square = kith__overlap_product(loop->overlap, i, i);
        loop->square[i] = square;
        most = square > most ? square : most;
        if (square <= rounding_square(loop->replicas, i, loop->subtract_mean)) {
            zero = i < zero ? i : zero;
        } else if (!(square >= least && square <= largest)) {
            far = i < far ? i : far;
        }
    }
    pthread_mutex_lock(&loop->lock);
    loop->zero = zero < loop->zero ? zero : loop->zero;
    loop->far = far < loop->far ? far : loop->far;
    loop->most = most > loop->most ? most : loop->most;
    pthread_mutex_unlock(&loop->lock);
}

/** Compute the squares, and check that products of two of them neither overflow nor vanish, and
 *  that none that a cosine divides by is 0. Sets square and most. */
static kith_status find_squares(kith_ctx *ctx, const kith_replicas *r, bool subtract_mean,
                                struct kith__overlap *o)
{
    double *square = kith__work_need(&ctx->work, KITH_OVERLAP_SQUARES,
                                     (size_t)o->n * sizeof *square);
    KITH_CHECK(ctx, square != NULL, KITH_NO_MEMORY, "out of memory for the squares of replicas");
    struct square_loop loop = {r,    o, subtract_mean, square, PTHREAD_MUTEX_INITIALIZER, o->n,
                               o->n, 0};
    loop_over_replicas(ctx, r, find_square_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    const int64_t zero = loop.zero, far = loop.far;
    KITH_CHECK(ctx, zero == o->n || o->measure != KITH_COSINE, KITH_INVALID,
               subtract_mean ? "replica %lld, counted from 0, equals the mean: zero has no cosine"
                             : "replica %lld, counted from 0, is zero, which has no cosine",
               (long long)zero);
    KITH_CHECK(ctx, far == o->n, KITH_LIMIT,
               "replica %lld, counted from 0, has a square of %g; expected 1e-150 to 1e150: scale "
               "the replicas",
               (long long)far, square[far]);
    o->square = square;
    o->most = loop.most;
    return KITH_OK;
}

kith_status kith__overlap_rows(kith_ctx *ctx, const kith_replicas *r, bool subtract_mean,
                               struct kith__overlap *o)
{
    bool spins = r->type == KITH_BITS;
    struct findings seen;
    if (!spins) {
        KITH_TRY(check_all(ctx, r, &seen));
        spins = !seen.not_spins && !subtract_mean && r->dim <= KITH_OVERLAP_MOST_SPINS;
    }
    if (spins) {
        KITH_TRY(make_bits(ctx, r, o));
    } else {
        /* integers up to this one are exact in the type */
        const double exact_up_to = r->type == KITH_FLOAT ? 0x1p24 : 0x1p53;
        KITH_TRY(make_rows(ctx, r, subtract_mean, o));
        o->exact = !subtract_mean && !seen.not_whole &&
                   seen.largest * seen.largest * (double)r->dim <= exact_up_to;
    }
    return find_squares(ctx, r, subtract_mean, o);
}

/* Overlaps are t * per_t. The bounds, with u = `unit`, d = 2^-53 (u or finer), and S = dim /
 * KITH_OVERLAP_SUMS + 6. A rounding has a relative error of at most u in the precision of products,
 * of d in double; n roundings of a term, one after another, change it by at most n u / (1 - n u) of
 * itself. The sum of all |x_k y_k| is at most |x| |y|, by the Cauchy-Schwarz inequality.
 *
 * Definition: a term of a scalar product is rounded once as a product, in up to dim /
 * KITH_OVERLAP_SUMS additions to a partial sum, and in 5 additions of partial sums: S d |x| |y|.
 * The definition and the band use the squares v as rounded: their errors matter no more.
 *
 * t, with scale g = 1 / |x|, or a power of 2 with |g x| < 1; the sum of |terms| is below 1 then:
 *   terms    chain u; 2 u where both factors are rounded to float; where g is 1 / |x|, 2 (2 + 1) d,
 *            as g has two roundings, and g x one
 *   cosine   definition: 2.5 d for the root of a product, and the quotient
 *            all together: (chain + 2) u + (S + 8.5) d in float, chain u + (S + 8.5) d in double
 *   product  all together: (chain + 2) u + S d
 *   distance of t^2, which is at most 4: terms twice; v in float 2 u, their sum 2 u, the difference
 *            4 u, the ends of the band 4 u; definition: 2 S d, sum 2 d, difference 4 d
 *            all together: (2 chain + 16) u + 2 S d in float, (2 chain + 10) u + (2 S + 6) d in
 *            double
 * So (chain + 9) u + S d bounds a product, twice that t^2.
 *
 * Exact products, g = 1:
 *   cosine   w has two roundings in double, in float another; w_i w_j and the product with c one
 *            each: 4 u + 4 d in float, 2 u + 4 d in double; definition: 2.5 d: less than 9 u
 *   distance v_i + v_j, the difference, the ends of the band: (2 + 4 + 4) u `most`; definition: (2
 *            + 4) d `most`: less than 9 u of 4 `most`
 *
 * Edge: the counter of a t near an edge, of overlaps up to M, the larger of |low| and |high|, with
 * bins of width w:
 *   factor   width has two roundings, the quotient one, in float another; the product with t one:
 *            M (3 d + 2 u)
 *   offset   low / width: 3 d M; the difference, which is rounded to float: (M + w) (d + u)
 *   sum      of both, up to 1 + (high - low) / w bins: (2 M + w) u
 *   edges    k / bins, high - low, and their product: 3 d 2 M; the sum: d M
 *   band     t less and plus the width of the band: M u
 *   root     of distances: M u; definition: M d
 *   all together: (7 M + 2 w) u + (15 M + w) d
 *
 * `second_order` is for products of these errors, among them |x| |y| over the root of the squares
 * as rounded, and for the rounding of the bounds themselves.
 */
struct kith__band kith__overlap_band(const struct kith__overlap *o, int64_t chain, double unit)
{
    const double second_order = 1.001;
    const double fine = DBL_EPSILON / 2;
    const double limit = 0.125; /* largest width of a band in bins: about the fraction of pairs
                                         that the definition has to decide; also the largest error
                                         of a product */
    const double high = o->edges[o->bins];
    const bool cosine = o->measure == KITH_COSINE, distance = o->measure == KITH_DISTANCE;
    int exponent;
    (void)frexp(o->most > 0 ? sqrt(o->most) : 1, &exponent);
    struct kith__band b = {.scale = o->exact ? 1
                                    : cosine ? 0
                                             : ldexp(1, -exponent),
                           .weighted = cosine && o->exact};
    const double g = b.scale > 0 ? b.scale : 1;
    const double per_t = cosine ? 1 : distance ? 1 / g : 1 / (g * g); /* overlap in one unit of t */
    const double roundings = (double)(chain + 9) * unit +
                             (double)(o->dim / KITH_OVERLAP_SUMS + 6) * fine;
    /* of a product in (-1, 1); near 1 it is too large for products in float in any case */
    const double error = second_order * roundings / (1 - fmin(roundings, 0.5));
    /* bound on |t|, for distances on t^2, by which the roundings of exact products scale */
    const double size = distance ? 4 * o->most : cosine ? 1 : 0;
    b.half = o->exact ? second_order * 9 * unit * size : error * (distance ? 2 : 1);
    const double far = fmax(fabs(o->low), fabs(high));
    b.edge = second_order * ((7 * far + 2 * o->width) * unit + (15 * far + o->width) * fine) /
             per_t;
    b.factor = per_t / o->width;
    b.offset = 1 - o->low / o->width;
    b.least = (cosine && o->low <= -1) || (distance && o->low <= 0) ? 1 : 0;
    b.most = cosine && high >= 1 ? (double)o->bins : (double)o->bins + 1;
    /* An estimate of the error of t, for the width of bands alone. For distances, b.half is an
     * error of t^2, and that of t is b.half / (2 t). The estimate is b.half / t at the largest t:
     * for exact distances sqrt(4 most), for others taken as 1. */
    const double half_of_t = o->exact && distance ? b.half / sqrt(4 * o->most) : b.half;
    b.needs_double = error > limit || 2 * (half_of_t + b.edge) * b.factor > limit;
    return b;
}
